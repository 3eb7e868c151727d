#include "userspace/code/free_placement.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>

#include "userspace/code/arch/x86_64/argument_copies.h"
#include "userspace/code/arch/x86_64/instruction.h"

namespace hawk {
namespace {

/// How far from the entry a cheaper instruction is looked for. All of the way is watched for changes of the code.
constexpr std::uint64_t kMaxBytes = 128;
constexpr std::int64_t kWordBytes = 8;

/// Whether it computes, loads, stores or copies, and nothing else. Control goes on behind it.
bool only_computes(const Instruction& instruction) {
  switch (instruction.decoded.meta.category) {
    case ZYDIS_CATEGORY_BINARY:
    case ZYDIS_CATEGORY_BITBYTE:
    case ZYDIS_CATEGORY_CMOV:
    case ZYDIS_CATEGORY_CONVERT:
    case ZYDIS_CATEGORY_DATAXFER:
    case ZYDIS_CATEGORY_LOGICAL:
    case ZYDIS_CATEGORY_NOP:
    case ZYDIS_CATEGORY_PUSH:
    case ZYDIS_CATEGORY_ROTATE:
    case ZYDIS_CATEGORY_SETCC:
    case ZYDIS_CATEGORY_SHIFT:
    case ZYDIS_CATEGORY_WIDENOP:
      return true;
    default:
      return instruction.decoded.mnemonic == ZYDIS_MNEMONIC_LEA ||
             instruction.decoded.mnemonic == ZYDIS_MNEMONIC_ENDBR64;
  }
}

/// A move to a place in the function's frame, below the return address, where no rbp has been saved.
bool is_spill(const Instruction& instruction, const StackState& before) {
  const ZydisDecodedOperand& place = instruction.operands[0];
  if (instruction.decoded.mnemonic != ZYDIS_MNEMONIC_MOV || !is_written_memory(place)) return false;
  if (place.mem.segment != ZYDIS_REGISTER_SS && place.mem.segment != ZYDIS_REGISTER_DS) return false;
  const std::optional<std::int64_t> position = stack_position(place, before);
  const std::int64_t bytes = place.size / 8;
  if (!position || *position + bytes > 0) return false;
  const auto& saved = before.saved_rbp;
  return !saved || *position + bytes <= *saved || *position >= *saved + kWordBytes;
}

bool stores_only_to_frame(const Instruction& instruction, const StackState& before) {
  if (!instruction.writes_memory()) return true;
  // What is pushed lies below all that has been pushed before.
  return instruction.decoded.mnemonic == ZYDIS_MNEMONIC_PUSH || is_spill(instruction, before);
}

/// Whether calls with a block go on behind it, and have done nothing.
bool is_passed(const Instruction& instruction, const StackState& before, const ProbePoint& early) {
  // The end of calls with null, as place_probe has passed it.
  if (instruction.flow == Flow::kBranch) return instruction.vaddr < early.vaddr;
  return only_computes(instruction) && stores_only_to_frame(instruction, before);
}

/// The first of the cheapest instructions behind `early`; nullopt: none is cheaper.
std::optional<ProbePoint> find_cheaper(const ElfImage& image, FunctionExtent function, const ProbePoint& early,
                                       const ArgumentRegisters& passed_in) {
  const std::uint64_t end = function.vaddr + std::min(kMaxBytes, function.size_bytes);
  ArgumentCopies arguments(HAWK_CALL_FREE, passed_in);
  StackState state;
  std::optional<ProbePoint> found;
  Execution cheapest = Execution::kStepped;
  std::optional<Instruction> current = decode_at(image, function.vaddr);
  while (current && current->next_vaddr() <= end && arguments.complete()) {
    const Execution execution = current->execution();
    if (current->vaddr == early.vaddr) cheapest = execution;
    const std::optional<CallerFrame> frame = caller_frame(state, kMaxFrameWords);
    // The kernel's emulation of a call leaves the shadow stack behind, where there is one.
    if (current->vaddr > early.vaddr && execution < cheapest && current->flow != Flow::kCall && frame) {
      cheapest = execution;
      found = {current->vaddr, current->mnemonic(), false, arguments.registers(), *frame};
    }
    if (cheapest == Execution::kJumped || !is_passed(*current, state, early)) break;
    arguments.step(*current);
    state = after(*current, state);
    current = decode_at(image, current->next_vaddr());
  }
  return found;
}

/// The straight code from a function's first instruction up to another.
class StraightCode {
 public:
  StraightCode(BranchTargets& resolver, CodeScan& scan, FunctionExtent function, std::uint64_t last)
      : resolver_(resolver), scan_(scan), function_(function), last_(last) {}

  /// Whether nothing leads into it but calls of the function.
  bool is_entered_at_its_beginning() {
    if (scan_.may_have_abort_handlers() || scan_.has_function_inside(function_)) return false;
    WalkOptions options;
    options.record_steps = true;
    options.follow_exceptions = true;
    const FunctionWalk walk = walk_function(resolver_, function_, options);
    return walk.incomplete.empty() && is_left_alone_by(walk) && is_left_alone_by_own_code() &&
           !scan_.may_enter(function_, walk);
  }

 private:
  bool is_inside(std::uint64_t vaddr) const { return vaddr > function_.vaddr && vaddr <= last_; }

  /// From one of its instructions to the next is no way in.
  bool is_next(std::uint64_t from, std::uint64_t to) const {
    const std::optional<Instruction> instruction = decode_at(resolver_.image(), from);
    return from >= function_.vaddr && from < last_ && instruction && instruction->next_vaddr() == to;
  }

  /// On paths that are known, wherever their code lies.
  bool is_left_alone_by(const FunctionWalk& walk) const {
    const auto leads_in = [&](const auto& item) {
      const std::uint64_t from = item.first;
      const auto& successors = item.second.successors;
      return std::any_of(successors.begin(), successors.end(),
                         [&](std::uint64_t to) { return is_inside(to) && !is_next(from, to); });
    };
    const auto calls_it = [&](const CallSite& call) { return call.target.vaddr && is_inside(*call.target.vaddr); };
    return std::none_of(walk.steps.begin(), walk.steps.end(), leads_in) &&
           std::none_of(walk.calls.begin(), walk.calls.end(), calls_it);
  }

  /// That of other paths, too.
  bool is_left_alone_by_own_code() const {
    const std::uint64_t end = function_.vaddr + function_.size_bytes;
    for (std::uint64_t vaddr = function_.vaddr; vaddr < end;) {
      const std::optional<Instruction> instruction = decode_at(resolver_.image(), vaddr);
      if (!instruction || (instruction->flow == Flow::kIndirectJump && !instruction->got_slot)) return false;
      if (instruction->target && is_inside(*instruction->target)) return false;
      vaddr = instruction->next_vaddr();
    }
    return true;
  }

  BranchTargets& resolver_;
  CodeScan& scan_;
  const FunctionExtent function_;
  const std::uint64_t last_;
};

}  // namespace

ProbePoint place_free_probe(BranchTargets& resolver, CodeScan& scan, FunctionExtent function,
                            const ArgumentRegisters& passed_in) {
  ProbePoint early = place_probe(resolver, function, HAWK_CALL_FREE, passed_in);
  const std::optional<ProbePoint> found = find_cheaper(resolver.image(), function, early, passed_in);
  if (!found) return early;
  StraightCode way(resolver, scan, function, found->vaddr);
  return way.is_entered_at_its_beginning() ? *found : early;
}

}  // namespace hawk
