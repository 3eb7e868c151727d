#include "tests/stepping/mutants.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "userspace/code/arch/x86_64/instruction.h"

namespace hawk::testing {
namespace {

constexpr std::uint8_t kNop = 0x90, kShortJump = 0xeb, kJump = 0xe9;

}  // namespace

Mutator::Mutator(const ElfImage& image, FunctionExtent function, std::uint32_t seed)
    : file_offset_(image.file_offset_of(function.vaddr).value()), random_(seed) {
  const std::span<const std::uint8_t> code = image.code_at(function.vaddr, function.size_bytes);
  code_.assign(code.begin(), code.end());
  for (std::uint64_t distance = 0; distance < code_.size();) {
    const std::optional<Instruction> found = decode_at(image, function.vaddr + distance);
    if (!found) break;
    const ZydisDecodedInstruction& decoded = found->decoded;
    const bool has_registers = (decoded.attributes & ZYDIS_ATTRIB_HAS_MODRM) != 0;
    candidates_.push_back({.distance = distance,
                           .length = decoded.length,
                           .opcode_at = decoded.opcode_map == ZYDIS_OPCODE_MAP_0F ? 1u : 0u,
                           .registers_at = has_registers ? decoded.raw.modrm.offset : 0u,
                           .is_direct_jump = found->target.has_value() && found->flow != Flow::kCall,
                           .is_branch = found->flow == Flow::kBranch});
    distance += decoded.length;
  }
}

std::uint64_t Mutator::some_target() {
  const Candidate& candidate = candidates_[below(candidates_.size())];
  return candidate.distance + (below(8) == 0 ? below(candidate.length) : 0);
}

/// The distance of a jump is what it ends with.
bool Mutator::lead_elsewhere(const Candidate& candidate, Mutant& mutant) {
  if (!candidate.is_direct_jump) return false;
  const auto from = static_cast<std::int64_t>(candidate.distance + candidate.length);
  const auto distance = static_cast<std::int32_t>(static_cast<std::int64_t>(some_target()) - from);
  if (candidate.length >= 5) {
    std::memcpy(mutant.bytes.data() + candidate.length - 4, &distance, 4);
  } else {
    if (distance < std::numeric_limits<std::int8_t>::min() || distance > std::numeric_limits<std::int8_t>::max())
      return false;
    mutant.bytes.back() = static_cast<std::uint8_t>(distance);
  }
  mutant.text += "a jump elsewhere";
  return true;
}

bool Mutator::replace_by_jump(const Candidate& candidate, Mutant& mutant) {
  const bool is_long = candidate.length >= 5;
  const std::size_t length = is_long ? 5 : 2;
  if (candidate.length < length) return false;
  const std::uint64_t target = some_target();
  const auto distance = static_cast<std::int32_t>(static_cast<std::int64_t>(target) -
                                                  static_cast<std::int64_t>(candidate.distance + length));
  if (!is_long &&
      (distance < std::numeric_limits<std::int8_t>::min() || distance > std::numeric_limits<std::int8_t>::max()))
    return false;
  std::fill(mutant.bytes.begin(), mutant.bytes.end(), kNop);
  mutant.bytes[0] = is_long ? kJump : kShortJump;
  std::memcpy(mutant.bytes.data() + 1, &distance, length - 1);
  mutant.text += fmt::format("replaced by a jump to +{:#x}", target);
  return true;
}

bool Mutator::change(const Candidate& candidate, Mutant& mutant) {
  switch (below(6)) {
    case 0:
      std::fill(mutant.bytes.begin(), mutant.bytes.end(), kNop);
      mutant.text += "left out";
      return true;
    case 1:
      if (candidate.registers_at == 0) return false;
      // Which registers, not whether it is memory.
      mutant.bytes[candidate.registers_at] ^= static_cast<std::uint8_t>(1 + below(63));
      mutant.text += "another register";
      return true;
    case 2:
      if (!candidate.is_branch) return false;
      mutant.bytes[candidate.opcode_at] ^= static_cast<std::uint8_t>(1 + below(15));
      mutant.text += "another condition";
      return true;
    case 3:
      return lead_elsewhere(candidate, mutant);
    case 4:
      return replace_by_jump(candidate, mutant);
    default:
      mutant.bytes[below(candidate.length)] ^= static_cast<std::uint8_t>(1u << below(8));
      mutant.text += "a bit flipped";
      return true;
  }
}

Mutant Mutator::next() {
  while (true) {
    const Candidate& candidate = candidates_[below(candidates_.size())];
    const auto begin = code_.begin() + static_cast<std::ptrdiff_t>(candidate.distance);
    const std::vector<std::uint8_t> original(begin, begin + static_cast<std::ptrdiff_t>(candidate.length));
    Mutant mutant = {.file_offset = file_offset_ + candidate.distance,
                     .bytes = original,
                     .text = fmt::format("+{:#x}: ", candidate.distance)};
    if (!change(candidate, mutant) || mutant.bytes == original) continue;
    for (const std::uint8_t byte : mutant.bytes) mutant.text += fmt::format(" {:02x}", byte);
    return mutant;
  }
}

}  // namespace hawk::testing
