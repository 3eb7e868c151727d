#include "userspace/code/probed_code.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "bpf/probe_points.h"
#include "userspace/base/breakpoint_bytes.h"

namespace hawk {
namespace {

/// What the kernel replaces at most, a nop of ten bytes. Programs that hook a function overwrite five to fourteen.
constexpr std::size_t kBytesFromProbe = 10;
/// A probe that is further from the function's entry has been placed in other code.
constexpr std::uint64_t kMaxBytesToProbe = 256;

std::optional<ProbedCode> read_code(const ElfLayout& image, std::uint64_t first, std::uint64_t probed) {
  const bool is_reached = probed >= first && probed - first <= kMaxBytesToProbe;
  const std::uint64_t begin = is_reached ? first : probed;
  const std::optional<std::uint64_t> vaddr = image.vaddr_of(begin);
  if (!vaddr) return std::nullopt;
  const std::span<const std::uint8_t> bytes = image.code_at(*vaddr, probed - begin + kBytesFromProbe);
  if (bytes.size() <= probed - begin) return std::nullopt;
  return ProbedCode{.function = {},
                    .role = CodeRole::kProbed,
                    .file_offset = begin,
                    .probe_at = static_cast<std::size_t>(probed - begin),
                    .bytes = {bytes.begin(), bytes.end()}};
}

/// What calls run through before the last HAWK_POINT_BYTES up to a probe.
void add_way_to(const ProbedCode& probed, std::vector<ProbedCode>& all) {
  for (std::size_t done = 0; done + HAWK_POINT_BYTES < probed.probe_at + 1;) {
    const std::size_t bytes = std::min<std::size_t>(probed.probe_at + 1 - HAWK_POINT_BYTES - done, HAWK_POINT_BYTES);
    const auto begin = probed.bytes.begin() + static_cast<std::ptrdiff_t>(done);
    all.push_back({.function = probed.function,
                   .role = CodeRole::kOnTheWay,
                   .file_offset = probed.file_offset + done,
                   .probe_at = 0,
                   .bytes = {begin, begin + static_cast<std::ptrdiff_t>(bytes)}});
    done += bytes;
  }
}

std::optional<ProbedCode> read_planned(const ElfLayout& image, const AllocatorFunction& function,
                                       const CodePiece& piece) {
  const std::optional<std::uint64_t> vaddr = image.vaddr_of(piece.file_offset);
  if (!vaddr) return std::nullopt;
  const std::span<const std::uint8_t> bytes = image.code_at(*vaddr, piece.bytes);
  if (bytes.empty()) return std::nullopt;
  const bool is_entry = piece.file_offset == function.entry_offset;
  return ProbedCode{.function = function.names.front(),
                    .role = is_entry ? CodeRole::kPlannedEntry : CodeRole::kPlanned,
                    .file_offset = piece.file_offset,
                    .probe_at = 0,
                    .bytes = {bytes.begin(), bytes.end()}};
}

/// How many bytes come before the displacement of the call that stands over a nop; 0: no call does.
std::size_t bytes_before_displacement(const ProbedCode& code, std::span<const std::uint8_t> memory) {
  constexpr std::array<std::uint8_t, 1> kCall = {0xe8};
  constexpr std::array<std::uint8_t, 6> kCallBelowRedZone = {0x48, 0x8d, 0x64, 0x24, 0x80, 0xe8};  // lea, call
  if (!is_long_nop(std::span(code.bytes).subspan(code.probe_at))) return 0;
  const std::span<const std::uint8_t> there = memory.subspan(code.probe_at);
  const auto begins_with = [&](std::span<const std::uint8_t> opcode) {
    return there.size() >= opcode.size() + sizeof(std::int32_t) &&
           std::equal(opcode.begin(), opcode.end(), there.begin());
  };
  if (begins_with(kCall)) return kCall.size();
  return begins_with(kCallBelowRedZone) ? kCallBelowRedZone.size() : 0;
}

}  // namespace

bool is_long_nop(std::span<const std::uint8_t> bytes) {
  const auto is_prefix = [](std::uint8_t byte) { return byte == 0x66 || byte == 0x2e; };
  const auto opcode = std::find_if_not(bytes.begin(), bytes.end(), is_prefix);
  return bytes.end() - opcode >= 2 && opcode[0] == 0x0f && opcode[1] == 0x1f;
}

std::vector<ProbedCode> probed_code_of(const ElfLayout& image, const AllocatorFunction& function) {
  std::vector<ProbedCode> all;
  const auto add = [&](std::uint64_t first, std::uint64_t probed) {
    std::optional<ProbedCode> code = read_code(image, first, probed);
    if (!code) return;
    code->function = function.names.front();
    add_way_to(*code, all);
    all.push_back(std::move(*code));
  };
  if (has_entry_probe(function)) add(function.entry_offset, function.probe_offset);
  for (const YieldPoint& point : function.yields.points) {
    if (point.kind != PointKind::kForward) add(point.file_offset, point.file_offset);
  }
  for (const CodePiece& piece : function.yields.code) {
    if (std::optional<ProbedCode> code = read_planned(image, function, piece)) all.push_back(std::move(*code));
  }
  if (!function.yields.points.empty()) return all;
  for (const std::uint64_t offset : function.return_offsets) add(offset, offset);
  for (const ReturnPointAt& point : function.return_points) add(point.file_offset, point.file_offset);
  return all;
}

bool is_other_code(const ProbedCode& code, std::span<const std::uint8_t> memory) {
  const std::span<const std::uint8_t> file = code.bytes;
  // A call over the nop is made by the kernel, or is met by the look after the probes are in place.
  const bool has_call = code.role == CodeRole::kProbed && bytes_before_displacement(code, memory) != 0;
  const std::size_t compared = has_call ? code.probe_at : file.size();
  return !is_same_code(file.first(compared), memory);
}

bool has_breakpoint(const ProbedCode& code, std::span<const std::uint8_t> memory) {
  if (code.role != CodeRole::kProbed) return is_same_code(code.bytes, memory);
  return memory[code.probe_at] == kBreakpoint && is_same_code(std::span(code.bytes).first(code.probe_at), memory);
}

std::optional<std::uint64_t> call_over_nop(const ProbedCode& code, std::span<const std::uint8_t> memory,
                                           std::uint64_t address) {
  const std::size_t before = code.role == CodeRole::kProbed ? bytes_before_displacement(code, memory) : 0;
  if (before == 0 || !is_same_code(std::span(code.bytes).first(code.probe_at), memory)) return std::nullopt;
  const std::size_t at = code.probe_at + before;
  std::int32_t displacement = 0;
  std::memcpy(&displacement, memory.data() + at, sizeof(displacement));
  return address + at + sizeof(displacement) + static_cast<std::uint64_t>(std::int64_t{displacement});
}

}  // namespace hawk
