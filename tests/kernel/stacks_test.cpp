// What the stacks themselves look like, beyond their direct caller.
#include <cstdio>
#include <set>

#include "tests/kernel/harness/compare.h"
#include "tests/kernel/harness/kernel_test.h"
#include "tests/kernel/harness/ledger.h"

namespace hawk {
namespace {

/// The functions that ledgers/distinct_stacks.c calls for number `n`, outermost first: its digits in base 8.
std::vector<std::string> digits_of(std::uint64_t n, int count) {
  std::vector<std::string> functions;
  for (int i = 0; i < count; ++i, n /= 8) functions.push_back("digit_" + std::to_string(n % 8));
  return functions;
}

/// Expects that `stack`, inlined calls aside, begins with `functions`, innermost first.
void expect_begins_with(const ReportStack& stack, const std::vector<std::string>& functions) {
  std::vector<std::string> found;
  for (const ReportFrame& frame : stack.frames) {
    if (!frame.inlined && found.size() < functions.size()) found.push_back(frame.function);
  }
  EXPECT_EQ(found, functions) << stack.text();
}

/// Traces a program made from ledgers/distinct_stacks.c with that many digits.
void expect_each_stack_once(Way way, const std::string& name, int digits) {
  LedgerProgram program({.program = name});
  Trace trace = Trace::attach(program.pid(), way);
  const Ledger ledger = program.run();
  const Report report = trace.finish();
  std::printf("%zu stacks: detach, report and verification %lld ms, %s\n", report.stacks.size(),
              static_cast<long long>(trace.finish_time().count()), way_name(way).c_str());
  expect_equal(report, ledger);
  std::set<std::uint64_t> seen;
  for (const ReportStack& stack : report.stacks) {
    if (stack.fell_into_gap()) continue;
    const std::uint64_t number = stack.numbers.allocated_bytes - 1;
    EXPECT_TRUE(seen.insert(number).second) << "twice: " << number;
    std::vector<std::string> expected = digits_of(number, digits);
    expected.emplace_back("leaf");
    expect_begins_with(stack, {expected.rbegin(), expected.rend()});
    EXPECT_EQ(stack.numbers.allocated_count, 1u);
    if (testing::Test::HasFailure()) return;  // one example is enough
  }
}

KERNEL_TEST(stacks, twenty_thousand) { expect_each_stack_once(way, "distinct_stacks", 5); }

/// The table of stacks is the same for all, and reading so large a report takes long: once with each way to attach.
constexpr Way kFour[] = {Way::kSessionArena, Way::kMultiHash, Way::kPerfHash, Way::kCfiArena};
KERNEL_TEST_ON(stacks, a_hundred_thousand, kFour) { expect_each_stack_once(way, "hundred_thousand_stacks", 6); }

/// `inner`, then `count` times `function`, then `outer`.
std::vector<std::string> functions(const std::string& inner, std::size_t count, const std::string& function,
                                   const std::string& outer) {
  std::vector<std::string> all = {inner};
  all.insert(all.end(), count, function);
  all.push_back(outer);
  return all;
}

KERNEL_TEST_ON(stacks, on_many_pages, kStackWays) {
  LedgerProgram program({.program = "paged_stack"});
  Trace trace = Trace::attach(program.pid(), way);
  const Ledger ledger = program.run();
  const Report report = trace.finish();
  expect_equal(report, ledger);
  for (const ReportStack& stack : report.stacks) {
    const std::uint64_t levels = stack.numbers.allocated_bytes / stack.numbers.allocated_count - 1;
    if (stack.direct_caller() == "by_malloc") {
      expect_begins_with(stack, functions("by_malloc", levels + 1, "page_by_page", "main"));
    } else if (unwind(way) == "cfi") {
      EXPECT_EQ(stack.text(), "on_the_edge < call_on_pair");
      EXPECT_EQ(stack.end, "not_covered");
    } else {
      expect_begins_with(stack, {"on_the_edge", "call_on_pair", "behind_the_edge", "main"});
      EXPECT_EQ(stack.unwound, "guessed");
    }
  }
}

KERNEL_TEST_ON(stacks, in_huge_pages, kStackWays) {
  LedgerProgram program({.program = "huge_page_stack"});
  Trace trace = Trace::attach(program.pid(), way);
  const Ledger ledger = program.run();
  const Report report = trace.finish();
  expect_equal(report, ledger);
  EXPECT_GT(ledger.values.at("huge_kib"), 0u) << "/sys/kernel/mm/transparent_hugepage/enabled must not be never";
  ASSERT_EQ(report.stacks.size(), 1u);
  expect_begins_with(report.stacks[0], functions("by_malloc", 61, "descend", "work"));
}

/// By tables alone the walk does not go that far: none tells of call_on_pair.
KERNEL_TEST_ON(stacks, chain_leaves_the_stack, kStackWays) {
  LedgerProgram program({.program = "broken_chain"});
  Trace trace = Trace::attach(program.pid(), way);
  const Ledger ledger = program.run();
  const Report report = trace.finish();
  expect_equal(report, ledger);
  for (const ReportStack& stack : report.stacks) {
    EXPECT_EQ(stack.text(), stack.direct_caller() + " < call_on_pair");
    EXPECT_EQ(stack.unwound, unwind(way) == "cfi" ? "truncated" : "guessed");
    EXPECT_EQ(stack.end, unwind(way) == "cfi" ? "not_covered" : "unreadable_stack");
  }
}

// An allocator in the executable has callers in the same file, so that later calls cannot be told from its own. They
// are not lost silently: each passes two probed functions, the executable's malloc and libc's.
KERNEL_TEST(longjmp, hidden_calls_are_counted) {
  LedgerProgram program({.program = "longjmp_over_hole_in_executable"});
  Trace trace = Trace::attach(program.pid(), way);
  const Ledger ledger = program.run();
  const Report report = trace.finish();
  EXPECT_FALSE(report.exact);
  EXPECT_EQ(report.totals.allocated_count, 0u);
  EXPECT_EQ(report.losses.at("hidden_calls"), 2 * ledger.sites.at("by_malloc").allocated_count);
}

KERNEL_TEST(stacks, table_full) {
  LedgerProgram program({.program = "stack_table_full"});
  Trace trace = Trace::attach(program.pid(), way, {"--max-stacks", "16"});
  const Ledger ledger = program.run();
  const Report report = trace.finish();
  expect_sound(report);
  EXPECT_EQ(report.totals, ledger.sites.at("at_depth"));
  EXPECT_FALSE(report.exact);
  Numbers without_stack;
  for (const ReportStack& stack : report.stacks) {
    if (stack.frames.empty()) without_stack += stack.numbers;
  }
  EXPECT_GT(without_stack.allocated_count, 0u);
  EXPECT_EQ(report.losses.at("stack_table_full") + report.losses.at("frames_full"), without_stack.allocated_count);
}

KERNEL_TEST_ON(stacks, recursion_300_deep, kStackWays) {
  LedgerProgram program({.program = "recursion"});
  Trace trace = Trace::attach(program.pid(), way);
  const Ledger ledger = program.run();
  const Report report = trace.finish();
  expect_equal(report, ledger);
  ASSERT_EQ(report.stacks.size(), 1u);
  EXPECT_EQ(report.stacks[0].unwound, "truncated");
  EXPECT_EQ(report.stacks[0].end, "depth_limit");
  EXPECT_EQ(report.stacks[0].frames.back().function, "descend");
}

KERNEL_TEST(stacks, depth_limit) {
  LedgerProgram program({.program = "recursion"});
  Trace trace = Trace::attach(program.pid(), way, {"--stack-depth", "5"});
  const Ledger ledger = program.run();
  const Report report = trace.finish();
  expect_equal(report, ledger);
  ASSERT_EQ(report.stacks.size(), 1u);
  EXPECT_EQ(report.stacks[0].text(), "by_malloc < descend < descend < descend < descend");
}

KERNEL_TEST_ON(stacks, preempted_on_one_cpu, kStackWays) {
  LedgerProgram program({.program = "pinned_threads"});
  Trace trace = Trace::attach(program.pid(), way);
  const Ledger ledger = program.run();
  const Report report = trace.finish();
  expect_equal(report, ledger);
  for (const ReportStack& stack : report.stacks) {
    if (stack.direct_caller() == "left_leaf") {
      expect_begins_with(stack, {"left_leaf", "left_2", "left_1", "work_left"});
    } else {
      expect_begins_with(stack, {"right_leaf", "right_8", "right_7", "right_6", "right_5", "right_4", "right_3",
                                 "right_2", "right_1", "work_right"});
    }
  }
}

}  // namespace
}  // namespace hawk
