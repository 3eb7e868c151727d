#include "userspace/code/code_scan.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "userspace/code/arch/x86_64/instruction.h"

namespace hawk {
namespace {

/// The furthest that a short jump leads.
constexpr std::uint64_t kShortJump = 128;
/// Functions begin at multiples of it.
constexpr std::uint64_t kAlignment = 16;
constexpr std::size_t kPiece = 64 << 10;
constexpr std::size_t kNearBytes = 4;
/// Of a segment with more, which takes long to read, anything is thought possible.
constexpr std::uint64_t kMaxBytes = std::uint64_t{64} << 20;
/// glibc and tcmalloc register sequences with no other (RSEQ_SIG in glibc's sysdeps/unix/sysv/linux/x86/bits/rseq.h).
constexpr std::array<std::uint8_t, 4> kAbortSignature = {0x53, 0x30, 0x05, 0x53};

constexpr bool is_near_branch(std::uint8_t second_byte) { return second_byte >= 0x80 && second_byte <= 0x8f; }
constexpr bool is_near_jump_or_call(std::uint8_t byte) { return byte == 0xe8 || byte == 0xe9; }

/// Whether a byte may be of what is looked for. Nearly all are not.
constexpr std::array<bool, 256> kMayCount = [] {
  std::array<bool, 256> may = {};
  for (std::size_t byte = 0; byte < may.size(); ++byte) {
    const auto value = static_cast<std::uint8_t>(byte);
    may[byte] = is_near_branch(value) || is_near_jump_or_call(value) || value == kAbortSignature[0];
  }
  return may;
}();

/// A function, and jumps into its middle.
class Middle {
 public:
  Middle(const ElfImage& image, FunctionExtent function, const FunctionWalk& walk)
      : image_(image), function_(function), walk_(walk) {}

  bool is_entered_by(std::uint64_t from, std::uint64_t target) const { return is_inside(target) && !is_own(from); }
  /// By a jump with 8 bits of distance.
  bool is_entered_from_near_by() const {
    return has_jump(function_.vaddr + function_.size_bytes, kShortJump) || has_jump_before();
  }

 private:
  bool is_inside(std::uint64_t target) const {
    return target > function_.vaddr && target - function_.vaddr < function_.size_bytes;
  }
  bool is_own(std::uint64_t vaddr) const {
    return vaddr == function_.vaddr || is_inside(vaddr) || walk_.steps.contains(vaddr);
  }

  /// In code that begins at `start` with an instruction.
  bool has_jump(std::uint64_t start, std::uint64_t bytes) const {
    for (std::uint64_t vaddr = start; vaddr < start + bytes;) {
      const std::optional<Instruction> instruction = decode_at(image_, vaddr);
      if (!instruction) return false;
      if (instruction->target && is_entered_by(vaddr, *instruction->target)) return true;
      vaddr = instruction->next_vaddr();
    }
    return false;
  }

  bool leads_to_function(std::uint64_t vaddr) const {
    while (vaddr < function_.vaddr) {
      const std::optional<Instruction> instruction = decode_at(image_, vaddr);
      if (!instruction) return false;
      vaddr = instruction->next_vaddr();
    }
    return vaddr == function_.vaddr;
  }

  /// Where instructions begin in what comes before is found by which addresses they follow one another from, up to the
  /// function.
  bool has_jump_before() const {
    const std::uint64_t aligned = function_.vaddr / kAlignment * kAlignment;
    for (std::uint64_t back = 2 * kShortJump; back > 0; back -= kAlignment) {
      if (back > aligned || !leads_to_function(aligned - back)) continue;
      return has_jump(aligned - back, function_.vaddr - (aligned - back));
    }
    return false;
  }

  const ElfImage& image_;
  const FunctionExtent function_;
  const FunctionWalk& walk_;
};

}  // namespace

void CodeScan::scan_piece(const LoadSegment& segment, std::uint64_t start, std::span<const std::uint8_t> code) {
  for (std::size_t i = 0; i + kNearBytes <= code.size(); ++i) {
    if (!kMayCount[code[i]]) continue;
    if (code[i] == kAbortSignature[0] && std::memcmp(&code[i], kAbortSignature.data(), kAbortSignature.size()) == 0) {
      // mov r32, imm32. What comes before the first byte has been seen with the piece before.
      const bool is_operand = i == 0 ? start != segment.vaddr : code[i - 1] >= 0xb8 && code[i - 1] <= 0xbf;
      has_abort_handlers_ = has_abort_handlers_ || !is_operand;
    }
    const bool is_branch = is_near_branch(code[i]) && i > 0 && code[i - 1] == 0x0f;
    if (i + kNearBytes == code.size() || (!is_near_jump_or_call(code[i]) && !is_branch)) continue;
    std::int32_t distance;
    std::memcpy(&distance, &code[i + 1], sizeof(distance));
    const std::uint64_t end = start + i + 1 + sizeof(distance);
    const std::uint64_t target = end + static_cast<std::uint64_t>(std::int64_t{distance});
    if (target - segment.vaddr < segment.file_bytes) near_jumps_.push_back({target, start + i - (is_branch ? 1 : 0)});
  }
}

void CodeScan::scan() {
  if (std::exchange(is_scanned_, true)) return;
  // Most of it is looked at here alone, and need not be kept.
  std::vector<std::uint8_t> piece(kPiece);
  for (const LoadSegment& segment : image_.code()) {
    if (segment.file_bytes > kMaxBytes) has_abort_handlers_ = true;
    // Pieces overlap by a jump's bytes but one.
    for (std::uint64_t done = 0; done < std::min(segment.file_bytes, kMaxBytes); done += kPiece - kNearBytes - 1) {
      const std::uint64_t start = segment.vaddr + done;
      const std::uint64_t left = segment.file_bytes - done;
      const std::span<std::uint8_t> wanted = std::span(piece).first(std::min<std::uint64_t>(kPiece, left));
      scan_piece(segment, start, wanted.first(image_.bytes_at(start, wanted)));
    }
  }
  std::sort(near_jumps_.begin(), near_jumps_.end(), [](const Jump& a, const Jump& b) { return a.target < b.target; });
}

bool CodeScan::may_have_abort_handlers() {
  scan();
  return has_abort_handlers_;
}

/// By where instructions begin that follow one another from the beginning of the function on.
bool CodeScan::is_instruction(std::uint64_t vaddr) const {
  const std::optional<std::uint64_t> begin = table_.begin_of(vaddr);
  if (!begin) return true;
  for (std::uint64_t at = *begin; at <= vaddr;) {
    const std::optional<Instruction> instruction = decode_at(image_, at);
    if (at == vaddr || !instruction) return true;
    at = instruction->next_vaddr();
  }
  return false;
}

bool CodeScan::has_function_inside(FunctionExtent function) {
  if (!functions_) {
    functions_.emplace();
    for (const ElfFunction& each : image_.public_functions("")) functions_->push_back(each.vaddr);
    std::sort(functions_->begin(), functions_->end());
  }
  const auto next = std::upper_bound(functions_->begin(), functions_->end(), function.vaddr);
  return next != functions_->end() && *next - function.vaddr < function.size_bytes;
}

bool CodeScan::may_enter(FunctionExtent function, const FunctionWalk& walk) {
  const Middle middle(image_, function, walk);
  scan();
  auto jump = std::upper_bound(near_jumps_.begin(), near_jumps_.end(), function.vaddr,
                               [](std::uint64_t vaddr, const Jump& each) { return vaddr < each.target; });
  for (; jump != near_jumps_.end() && jump->target - function.vaddr < function.size_bytes; ++jump) {
    if (middle.is_entered_by(jump->from, jump->target) && is_instruction(jump->from)) return true;
  }
  return middle.is_entered_from_near_by();
}

}  // namespace hawk
