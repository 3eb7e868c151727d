#pragma once

/// Code, a stack and a thread that walks it, all made by hand, for tests of bpf/unwind/unwind.h.

#include <cstdint>
#include <vector>

#include "bpf/arch/x86_64/registers.h"
#include "bpf/layout.h"
#include "tests/unwinding/host_walk.h"
#include "userspace/unwinding/rule_set.h"

namespace hawk {

inline constexpr std::uint64_t kCode = 0x400000, kFunctionBytes = 64;
inline constexpr std::uint64_t kStack = 0x7ffd00010000, kStackWords = 2048;
/// A function's number is its place in the code, where each has as many bytes.
using Function = std::uint64_t;

/// After a call in the middle of a function.
inline std::uint64_t in(Function function) { return kCode + function * kFunctionBytes + 24; }

inline hawk_rule plain(hawk_rule_base base, std::int32_t cfa_offset, hawk_fp_rule fp_rule = HAWK_FP_SAME,
                       std::int32_t fp_offset = 0) {
  hawk_rule rule{};
  rule.kind = HAWK_RULE_PLAIN;
  rule.base = static_cast<__u8>(base);
  rule.fp_rule = static_cast<__u8>(fp_rule);
  rule.cfa_offset = cfa_offset;
  rule.fp_offset = fp_offset;
  return rule;
}

inline hawk_rule of_kind(hawk_rule_kind kind) { return rule_without_operands(static_cast<std::uint8_t>(kind)); }

/// Code of functions that have one rule each, and a stack.
class World {
 public:
  explicit World(const std::vector<hawk_rule>& functions, std::uint64_t stack = kStack)
      : stack_(stack), words_(kStackWords) {
    change(functions);
  }

  /// From now on the functions have these rules, in a new generation.
  void change(const std::vector<hawk_rule>& functions) {
    rows_.clear();
    for (const hawk_rule& rule : functions) {
      rows_.push_back({.offset = static_cast<__u32>(rows_.size() * kFunctionBytes), .rule = set_.number_of(rule)});
    }
    rules_.assign(set_.rules().begin(), set_.rules().end());
    for (hawk_rule& rule : rules_) rule = hawk_prepared_rule(rule);
    hawk_code_range range{};
    range.start = range.base = kCode;
    range.end = kCode + functions.size() * kFunctionBytes;
    range.row_count = static_cast<__u32>(rows_.size());
    tables_.ranges = {range};
    tables_.rows = rows_;
    tables_.rules = rules_;
    ++tables_.generation;
  }
  /// A generation that is said to be this one.
  void set_generation(std::uint32_t generation) { tables_.generation = generation; }

  /// A probe's trampoline is at `trampoline`, and has taken the place of `pc` at `slot`.
  void replace_return(std::uint64_t slot, std::uint64_t pc, std::uint64_t trampoline) {
    word(slot) = tables_.trampoline = trampoline;
    tables_.replaced_returns[slot] = pc;
  }

  std::uint64_t& word(std::uint64_t address) { return words_.at((address - stack_) / sizeof(std::uint64_t)); }

  /// By the thread that has walked before.
  HostWalk walk(const HostRegisters& registers, std::uint32_t max_depth = HAWK_MAX_FRAMES,
                hawk_unwind mode = HAWK_UNWIND_CFI) {
    return thread_.walk(tables_, memory(), registers, max_depth, mode);
  }
  /// Remembers it by this number.
  void remember(const HostWalk& walk, const HostRegisters& registers, std::uint32_t number) {
    thread_.remember(tables_, memory(), registers, walk, number);
  }
  /// The number of the walk from there, if it is remembered; 0: it is not; ~0: it is at hand, and another one.
  std::uint32_t remembered(const HostRegisters& registers) {
    const std::uint32_t at_hand = remembered_at_hand(registers);
    const std::uint32_t number = thread_.remembered(tables_, memory(), registers);
    return at_hand == 0 || at_hand == number ? number : ~0u;
  }
  std::uint32_t remembered_at_hand(const HostRegisters& registers) {
    return thread_.remembered_at_hand(tables_, memory(), registers);
  }
  void forget_walks() { thread_.forget_walks(); }
  /// By another.
  HostWalk walk_afresh(const HostRegisters& registers, std::uint32_t max_depth = HAWK_MAX_FRAMES,
                       hawk_unwind mode = HAWK_UNWIND_CFI) const {
    return walk_on_host(tables_, memory(), registers, max_depth, mode);
  }
  /// Until nothing is learnt any more: the first walk caches rules, the second learns steps.
  HostWalk learn(const HostRegisters& registers, hawk_unwind mode = HAWK_UNWIND_CFI) {
    walk(registers, HAWK_MAX_FRAMES, mode);
    walk(registers, HAWK_MAX_FRAMES, mode);
    return walk(registers, HAWK_MAX_FRAMES, mode);
  }

 private:
  StackMemory memory() const {
    return {.start = stack_,
            .bytes = {reinterpret_cast<const std::uint8_t*>(words_.data()), words_.size() * sizeof(std::uint64_t)}};
  }

  RuleSet set_;
  std::vector<hawk_row> rows_;
  std::vector<hawk_rule> rules_;
  HostTables tables_;
  std::uint64_t stack_;
  std::vector<std::uint64_t> words_;
  HostThread thread_;
};

}  // namespace hawk
