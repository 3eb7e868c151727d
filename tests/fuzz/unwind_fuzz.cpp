// Registers and a stack, walked by rules over a small table that has one of every kind. A second walk, written down as
// plainly as the rules are described (bpf/unwind/layout.h), is the judge. Input: a byte of settings, a depth, then pc,
// rsp and rbp with two bytes each, then the stack.
#include <array>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "bpf/arch/x86_64/registers.h"
#include "bpf/layout.h"
#include "bpf/unwind/ends.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/unwinding/host_walk.h"
#include "userspace/unwinding/rule_set.h"

namespace hawk {
namespace {

constexpr std::uint64_t kStackStart = 0x8000, kCode = 0x1000, kCodeEnd = 0x2000, kNoTable = 0x3000,
                        kNoTableEnd = 0x3100;
constexpr std::size_t kHeaderBytes = 8;
constexpr std::uint32_t kFunctionBytes = 16;

hawk_rule rule(hawk_rule_kind kind, hawk_rule_base base, std::int32_t cfa_offset, hawk_fp_rule fp_rule,
               std::int32_t fp_offset = 0, std::int32_t load_offset = 0) {
  hawk_rule made{};
  made.kind = static_cast<__u8>(kind);
  made.base = static_cast<__u8>(base);
  made.fp_rule = static_cast<__u8>(fp_rule);
  made.cfa_offset = cfa_offset;
  made.fp_offset = fp_offset;
  made.load_offset = load_offset;
  return made;
}

/// A function for each rule; after the last one nothing is known.
struct Tables {
  Tables();
  HostTables host;

 private:
  void add(std::uint32_t number) {
    rows_.push_back({.offset = static_cast<__u32>(rows_.size() * kFunctionBytes), .rule = number});
  }
  std::vector<hawk_row> rows_;
  std::vector<hawk_rule> rules_;
};

Tables::Tables() {
  RuleSet set;
  for (std::uint32_t number = 0; number < HAWK_FIRST_RULE; ++number) add(number);
  const std::array<hawk_rule, 14> with_operands = {
      rule(HAWK_RULE_PLAIN, HAWK_BASE_SP, 8, HAWK_FP_SAME),
      rule(HAWK_RULE_PLAIN, HAWK_BASE_SP, 16, HAWK_FP_SAME),
      rule(HAWK_RULE_PLAIN, HAWK_BASE_SP, 32, HAWK_FP_AT_CFA, -16),
      rule(HAWK_RULE_PLAIN, HAWK_BASE_SP, 4096, HAWK_FP_AT_CFA, -24),
      rule(HAWK_RULE_PLAIN, HAWK_BASE_SP, -8, HAWK_FP_SAME),
      rule(HAWK_RULE_PLAIN, HAWK_BASE_SP, 12, HAWK_FP_SAME),
      rule(HAWK_RULE_PLAIN, HAWK_BASE_FP, 16, HAWK_FP_AT_CFA, -16),
      rule(HAWK_RULE_PLAIN, HAWK_BASE_FP, 24, HAWK_FP_AT_CFA, INT32_MIN),
      rule(HAWK_RULE_PLAIN, HAWK_BASE_SP, INT32_MAX - 7, HAWK_FP_AT_SP, 8),
      rule(HAWK_RULE_PLAIN, HAWK_BASE_SP, 24, HAWK_FP_AT_SP, 8),
      rule(HAWK_RULE_PLAIN, HAWK_BASE_SP, 24, HAWK_FP_LOST),
      rule(HAWK_RULE_LOADED, HAWK_BASE_FP, 0, HAWK_FP_AT_FP, 0, -8),
      rule(HAWK_RULE_LOADED, HAWK_BASE_SP, 16, HAWK_FP_SAME, 0, 3),
      rule(HAWK_RULE_PLT, HAWK_BASE_SP, 8, HAWK_FP_SAME, 0, 11),
  };
  for (const hawk_rule& made : with_operands) add(set.number_of(made));
  for (const hawk_rule& made : set.rules()) rules_.push_back(hawk_prepared_rule(made));
  add(HAWK_RULE_GAP);
  hawk_code_range code{}, no_table{};
  code.start = code.base = kCode;
  code.end = kCodeEnd;
  code.row_count = static_cast<__u32>(rows_.size());
  no_table.start = kNoTable;
  no_table.end = kNoTableEnd;
  host = {.ranges = {code, no_table}, .rows = rows_, .rules = rules_};
}

/// The judge's walk.
class PlainWalk {
 public:
  PlainWalk(const HostTables& tables, const StackMemory& stack, HostRegisters at, std::uint32_t max_depth, bool guesses)
      : tables_(tables), stack_(stack), at_(at), max_depth_(max_depth), guesses_(guesses) {
    for (next_ = at_.pc; !end_;) {
      if (push()) step();
    }
  }
  void compare(const HostWalk& walk) const {
    HAWK_CHECK(walk.frames == frames_, "other frames");
    HAWK_CHECK(walk.end == end_, "another end");
    HAWK_CHECK(walk.is_guessed == is_guessed_, "a guess that is none, or is not reported");
  }

 private:
  bool push() {
    if (!next_) end_ = HAWK_END_NULL_RETURN;
    if (next_ && frames_.size() == max_depth_) end_ = HAWK_END_DEPTH;
    if (end_) return false;
    at_.pc = next_;
    frames_.push_back(next_ | (is_interrupted_ ? HAWK_FRAME_INTERRUPTED : 0));
    return true;
  }
  /// Ends the walk where the word cannot be read.
  std::uint64_t word(std::uint64_t address) {
    const std::optional<std::uint64_t> found = stack_.word(address);
    if (!found && !end_) end_ = HAWK_END_UNREADABLE;
    return found.value_or(0);
  }
  void step() {
    hawk_rule rule = tables_.rules[host_rule_number(tables_, at_.pc - (is_interrupted_ ? 0 : 1))];
    is_interrupted_ = false;
    const bool is_unruled = rule.kind <= HAWK_RULE_GAP;
    if (rule.kind == HAWK_RULE_SIGNAL) return leave_signal();
    if (is_unruled && guesses_) {
      is_guessed_ = true;
      rule = tables_.rules[HAWK_RULE_FRAME_POINTER];
      if (at_.fp < at_.sp) end_ = HAWK_END_NO_PROGRESS;
    } else if (rule.kind < HAWK_RULE_PLAIN || rule.kind > HAWK_RULE_PLT) {
      end_ = end_of(rule.kind);
    }
    if (!end_) leave_function(rule);
  }
  static hawk_end end_of(std::uint32_t kind) {
    static constexpr std::array<hawk_end, HAWK_RULE_KINDS> kEnds = {
        HAWK_END_NO_CODE, HAWK_END_NO_TABLE, HAWK_END_GAP,     HAWK_END_UNSUPPORTED, HAWK_END_CHANGING,
        HAWK_END_NO_CODE, HAWK_END_NO_CODE,  HAWK_END_NO_CODE, HAWK_END_NO_CODE,     HAWK_END_OUTERMOST};
    return kEnds[kind];
  }
  void leave_signal() {
    at_.fp = word(at_.sp + HAWK_SIGNAL_FP);
    next_ = word(at_.sp + HAWK_SIGNAL_PC);
    at_.sp = word(at_.sp + HAWK_SIGNAL_SP);
    is_interrupted_ = true;
  }
  void leave_function(const hawk_rule& rule) {
    std::uint64_t cfa = rule.base == HAWK_BASE_SP ? at_.sp : at_.fp;
    if (rule.kind == HAWK_RULE_LOADED) cfa = word(cfa + static_cast<std::int64_t>(rule.load_offset));
    cfa += static_cast<std::int64_t>(rule.cfa_offset);
    if (rule.kind == HAWK_RULE_PLT && (at_.pc & 15) >= static_cast<std::uint64_t>(rule.load_offset)) cfa += 8;
    const std::int64_t fp_offset = rule.fp_offset;
    std::uint64_t fp = at_.fp;
    if (rule.fp_rule == HAWK_FP_AT_SP) fp = word(at_.sp + fp_offset);
    if (rule.fp_rule == HAWK_FP_AT_FP) fp = word(at_.fp + fp_offset);
    if (!end_ && (cfa <= at_.sp || cfa % 8 != 0)) end_ = HAWK_END_NO_PROGRESS;
    if (rule.fp_rule == HAWK_FP_AT_CFA) fp = word(cfa + fp_offset);
    if (rule.fp_rule == HAWK_FP_LOST) fp = 7;
    next_ = word(cfa - 8);
    at_.sp = cfa;
    at_.fp = fp;
  }

  const HostTables& tables_;
  const StackMemory& stack_;
  HostRegisters at_;
  std::uint32_t max_depth_;
  bool guesses_;
  std::uint64_t next_ = 0;
  bool is_interrupted_ = false;
  std::vector<std::uint64_t> frames_;
  std::optional<std::uint32_t> end_;
  bool is_guessed_ = false;
};

void walk_twice(const std::uint8_t* data, std::size_t size) {
  static const Tables tables;
  if (size < kHeaderBytes) return;
  std::array<std::uint16_t, 3> words{};
  std::memcpy(words.data(), data + 2, sizeof(words));
  const StackMemory stack{.start = kStackStart, .bytes = {data + kHeaderBytes, size - kHeaderBytes}};
  const HostRegisters registers{.pc = words[0], .sp = words[1], .fp = words[2]};
  const std::uint32_t max_depth = 1 + data[1];
  const bool guesses = data[0] & 1;
  const HostWalk walk =
      walk_on_host(tables.host, stack, registers, max_depth, guesses ? HAWK_UNWIND_AUTO : HAWK_UNWIND_CFI);
  HAWK_CHECK(walk.frames.size() <= max_depth, "more frames than were asked for");
  HAWK_CHECK(walk.end < HAWK_END_COUNT, "an end that does not exist");
  HAWK_CHECK(guesses || !walk.is_guessed, "a guess that was not asked for");
  if (registers.pc) PlainWalk(tables.host, stack, registers, max_depth, guesses).compare(walk);
}

}  // namespace
}  // namespace hawk

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  hawk::walk_twice(data, size);
  return 0;
}
