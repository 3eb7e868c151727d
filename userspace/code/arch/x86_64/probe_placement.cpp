#include "userspace/code/probe_placement.h"

#include <algorithm>
#include <optional>
#include <span>
#include <unordered_set>
#include <vector>

#include "userspace/code/arch/x86_64/argument_copies.h"
#include "userspace/code/arch/x86_64/code_graph.h"
#include "userspace/code/arch/x86_64/instruction.h"

namespace hawk {
namespace {

/// How far from the entry a cheaper instruction is looked for.
constexpr int kMaxSteps = 16;
/// How much of what the function jumps to is searched for jumps back; its own extent is searched whole.
constexpr std::size_t kMaxWalked = 1024;

/// Whether the stack and the frame pointer are after `instruction` what they were before. Flags, other registers and
/// memory may change: whatever the function does there, it has done before the probe. Only a function that frees must
/// not have written anything yet, or another thread might own the block before its end is counted.
bool keeps_stack(const Instruction& instruction, hawk_call_kind kind) {
  if (instruction.flow != Flow::kNext) return false;
  if (instruction.writes(ZYDIS_REGISTER_RSP) || instruction.writes(ZYDIS_REGISTER_RBP)) return false;
  return kind != HAWK_CALL_FREE || !instruction.writes_memory();
}

/// Where the function's jumps lead; nullopt when that cannot be known.
std::optional<std::unordered_set<std::uint64_t>> branch_targets(BranchTargets& resolver, FunctionExtent function) {
  std::unordered_set<std::uint64_t> targets;
  const std::uint64_t end = function.vaddr + function.size_bytes;
  for (std::uint64_t vaddr = function.vaddr; vaddr < end;) {
    const std::optional<Instruction> instruction = decode_at(resolver.image(), vaddr);
    if (!instruction) return std::nullopt;
    // A jump table may lead anywhere.
    if (instruction->flow == Flow::kIndirectJump && !instruction->got_slot) return std::nullopt;
    if (instruction->target && instruction->flow != Flow::kCall) targets.insert(*instruction->target);
    vaddr = instruction->next_vaddr();
  }
  WalkOptions options;
  options.max_instructions = kMaxWalked;
  const FunctionWalk walk = walk_function(resolver, function, options);
  if (function.size_bytes == 0 && !walk.incomplete.empty()) return std::nullopt;
  targets.insert(walk.branch_targets.begin(), walk.branch_targets.end());
  return targets;
}

ProbePoint point_at(const Instruction& instruction, const ArgumentRegisters& registers) {
  return {instruction.vaddr, instruction.mnemonic(), !instruction.is_emulated_by_kernel(), registers};
}

bool tests_first_argument(const Instruction& instruction) {
  return instruction.decoded.mnemonic == ZYDIS_MNEMONIC_TEST && instruction.is_register(0, ZYDIS_REGISTER_RDI) &&
         instruction.is_register(1, ZYDIS_REGISTER_RDI);
}

}  // namespace

bool begins_again(BranchTargets& resolver, FunctionExtent function) {
  const std::uint64_t end = function.vaddr + function.size_bytes;
  for (std::uint64_t vaddr = function.vaddr; vaddr < end;) {
    const std::optional<Instruction> instruction = decode_at(resolver.image(), vaddr);
    if (!instruction) break;
    if (instruction->flow != Flow::kCall && target_of(resolver, *instruction).vaddr == function.vaddr) return true;
    vaddr = instruction->next_vaddr();
  }
  WalkOptions options;
  options.max_instructions = kMaxWalked;
  options.record_steps = true;
  const FunctionWalk walk = walk_function(resolver, function, options);
  return std::any_of(walk.steps.begin(), walk.steps.end(), [&](const auto& step) {
    const std::vector<std::uint64_t>& next = step.second.successors;
    return std::find(next.begin(), next.end(), function.vaddr) != next.end();
  });
}

ProbePoint place_probe(BranchTargets& resolver, FunctionExtent function, hawk_call_kind kind,
                       const ArgumentRegisters& passed_in) {
  ArgumentCopies arguments(kind, passed_in);
  const std::optional<Instruction> entry = decode_at(resolver.image(), function.vaddr);
  if (!entry) return {function.vaddr, {}, true};
  ProbePoint at_entry = point_at(*entry, arguments.registers());
  if (!at_entry.single_stepped) return at_entry;
  const std::optional<std::unordered_set<std::uint64_t>> targets = branch_targets(resolver, function);
  if (!targets) return at_entry;

  Instruction current = *entry;
  bool null_tested = false;
  for (int step = 0; step < kMaxSteps; ++step) {
    if (!keeps_stack(current, kind)) break;
    arguments.step(current);
    if (!arguments.complete()) break;
    const bool at_start = step == 0 || (step == 1 && entry->decoded.mnemonic == ZYDIS_MNEMONIC_ENDBR64);
    null_tested = at_start && kind == HAWK_CALL_FREE && tests_first_argument(current);
    const std::optional<Instruction> next = decode_at(resolver.image(), current.next_vaddr());
    if (!next || targets->contains(next->vaddr)) break;
    current = *next;
    if (!current.is_emulated_by_kernel()) continue;
    if (!null_tested || current.decoded.mnemonic != ZYDIS_MNEMONIC_JZ) return point_at(current, arguments.registers());
    const std::optional<Instruction> not_null = decode_at(resolver.image(), current.next_vaddr());
    const bool is_better = not_null && not_null->is_emulated_by_kernel() && !targets->contains(not_null->vaddr);
    return point_at(is_better ? *not_null : current, arguments.registers());
  }
  return at_entry;
}

}  // namespace hawk
