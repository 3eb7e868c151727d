#include "userspace/code/ifunc.h"

#include <array>
#include <deque>
#include <map>
#include <set>

#include "userspace/code/arch/x86_64/instruction.h"

namespace hawk {
namespace {

/// More than any resolver chooses from.
constexpr std::size_t kMaxValues = 32;

/// All values that something can have; nullopt: any.
using Possible = std::optional<std::set<std::uint64_t>>;

Possible merge(const Possible& a, const Possible& b) {
  if (!a || !b) return std::nullopt;
  std::set<std::uint64_t> both = *a;
  both.insert(b->begin(), b->end());
  return both.size() > kMaxValues ? std::nullopt : Possible(std::move(both));
}

std::optional<std::uint64_t> address_in(const Instruction& instruction, const ZydisDecodedOperand& operand) {
  ZyanU64 address = 0;
  const bool is_known =
      operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.mem.base == ZYDIS_REGISTER_RIP &&
      operand.mem.index == ZYDIS_REGISTER_NONE &&
      ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&instruction.decoded, &operand, instruction.vaddr, &address));
  return is_known ? std::optional<std::uint64_t>(address) : std::nullopt;
}

/// What the general registers hold at one instruction.
struct Registers {
  std::array<Possible, kGeneralRegisters.size()> values;
  bool operator==(const Registers&) const = default;
};

Registers merge(const Registers& a, const Registers& b) {
  Registers both;
  for (std::size_t i = 0; i < both.values.size(); ++i) both.values[i] = merge(a.values[i], b.values[i]);
  return both;
}

bool is_conditional_move(const Instruction& instruction) {
  return instruction.decoded.meta.category == ZYDIS_CATEGORY_CMOV;
}

/// What the second operand of a move can be.
Possible source_of(BranchTargets& resolver, const Instruction& instruction, const Registers& before) {
  const ZydisDecodedOperand& source = instruction.operands[1];
  if (const std::optional<std::size_t> from = wide_register_number(source)) {
    return source.size == 64 ? before.values[*from] : std::nullopt;
  }
  if (source.type == ZYDIS_OPERAND_TYPE_IMMEDIATE) return std::set<std::uint64_t>{source.imm.value.u};
  const std::optional<std::uint64_t> address = address_in(instruction, source);
  if (!address) return std::nullopt;
  if (instruction.decoded.mnemonic == ZYDIS_MNEMONIC_LEA) return std::set<std::uint64_t>{*address};
  const std::optional<std::uint64_t> function = resolver.resolve_slot(*address).vaddr;
  return function ? Possible(std::set<std::uint64_t>{*function}) : std::nullopt;
}

Registers after(BranchTargets& resolver, const Instruction& instruction, const Registers& before) {
  Registers state = before;
  for (std::size_t number = 0; number < kGeneralRegisters.size(); ++number) {
    if (instruction.writes(kGeneralRegisters[number])) state.values[number].reset();
  }
  // What functions keep for their callers is of no interest here.
  if (instruction.flow == Flow::kCall || instruction.flow == Flow::kIndirectCall) state = {};
  const std::optional<std::size_t> to = wide_register_number(instruction.operands[0]);
  const bool is_move =
      instruction.decoded.mnemonic == ZYDIS_MNEMONIC_MOV || instruction.decoded.mnemonic == ZYDIS_MNEMONIC_LEA;
  if (!to || !(is_move || is_conditional_move(instruction))) return state;
  const Possible moved = source_of(resolver, instruction, before);
  state.values[*to] = is_move ? moved : merge(moved, before.values[*to]);
  return state;
}

}  // namespace

std::optional<std::vector<std::uint64_t>> ifunc_candidates(BranchTargets& resolver, FunctionExtent ifunc) {
  WalkOptions options;
  options.record_steps = true;
  const FunctionWalk walk = walk_function(resolver, ifunc, options);
  if (!walk.incomplete.empty() || walk.returns.empty()) return std::nullopt;

  std::map<std::uint64_t, Registers> states = {{ifunc.vaddr, {}}};
  for (std::deque<std::uint64_t> pending = {ifunc.vaddr}; !pending.empty(); pending.pop_front()) {
    const std::optional<Instruction> instruction = decode_at(resolver.image(), pending.front());
    if (!instruction) return std::nullopt;
    const Registers state = after(resolver, *instruction, states.at(pending.front()));
    for (const std::uint64_t next : walk.steps.at(pending.front()).successors) {
      const auto [known, is_new] = states.try_emplace(next, state);
      const Registers merged = is_new ? state : merge(known->second, state);
      if (!is_new && merged == known->second) continue;
      known->second = merged;
      pending.push_back(next);
    }
  }

  std::set<std::uint64_t> candidates;
  for (const std::uint64_t ret : walk.returns) {
    const Possible& result = states.at(ret).values[0];
    if (!result) return std::nullopt;
    candidates.insert(result->begin(), result->end());
  }
  for (const std::uint64_t vaddr : candidates) {
    if (resolver.image().code_at(vaddr, 1).empty()) return std::nullopt;
  }
  return std::vector<std::uint64_t>(candidates.begin(), candidates.end());
}

}  // namespace hawk
