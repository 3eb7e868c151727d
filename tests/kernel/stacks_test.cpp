// What the stacks themselves look like, beyond their direct caller.
#include <sys/resource.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "tests/kernel/harness/compare.h"
#include "tests/kernel/harness/kernel_test.h"
#include "tests/kernel/harness/ledger.h"
#include "tests/kernel/harness/traced_ledger.h"

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

KERNEL_TEST_OF_CALLS(stacks, twenty_thousand) { expect_each_stack_once(way, "distinct_stacks", 5); }

/// The table of stacks is the same for all, and reading so large a report takes long: once with each way to attach.
constexpr Way kFour[] = {Way::kSessionArena, Way::kMultiHash, Way::kPerfHash, Way::kCfiArena};
KERNEL_TEST_ON(stacks, a_hundred_thousand, kFour) { expect_each_stack_once(way, "hundred_thousand_stacks", 6); }

/// Nor is the room for stacks another with perf events, which are slow.
constexpr Way kThree[] = {Way::kSessionArena, Way::kMultiHash, Way::kCfiArena};

/// Of all threads of a process.
void set_niceness(pid_t pid, int niceness) {
  for (const auto& thread : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task")) {
    const auto tid = static_cast<id_t>(std::stoul(thread.path().filename().string()));
    EXPECT_EQ(::setpriority(PRIO_PROCESS, tid, niceness), 0);
  }
}

/// 100,000 stacks of 64 frames and more, as fast as they can be made: more than there is room for when the trace
/// begins. The whole report would be a gigabyte, and what it says of stacks is tested above.
void expect_no_deep_stack_lost(Way way, const std::string& name, int niceness) {
  constexpr int kDigits = 64;
  LedgerProgram program({.program = name});
  Trace trace = Trace::attach(program.pid(), way, {"--min-size", "98000"});
  set_niceness(trace.process().pid(), niceness);
  const Ledger ledger = program.run();
  const Report report = trace.finish();
  EXPECT_TRUE(report.exact);
  for (const auto& [cause, count] : report.losses) EXPECT_EQ(count, 0u) << cause;
  EXPECT_EQ(report.verified, std::optional<bool>(true));
  EXPECT_EQ(report.totals, ledger.sites.at("leaf"));
  ASSERT_EQ(report.stacks.size(), 1000u);
  for (const ReportStack& stack : report.stacks) {
    std::vector<std::string> expected = digits_of(stack.numbers.allocated_bytes - 1, kDigits);
    expected.emplace_back("leaf");
    expect_begins_with(stack, {expected.rbegin(), expected.rend()});
    EXPECT_EQ(stack.numbers.allocated_count, 1u);
    if (testing::Test::HasFailure()) return;  // one example is enough
  }
}

KERNEL_TEST_ON(stacks, a_hundred_thousand_deep, kThree) { expect_no_deep_stack_lost(way, "deep_stacks", 0); }
/// While the target takes all CPUs.
KERNEL_TEST_ON(stacks, deep_of_four_threads, kThree) { expect_no_deep_stack_lost(way, "deep_stacks_of_threads", 19); }

/// `inner`, then `count` times `function`, then `outer`.
std::vector<std::string> functions(const std::string& inner, std::size_t count, const std::string& function,
                                   const std::string& outer) {
  std::vector<std::string> all = {inner};
  all.insert(all.end(), count, function);
  all.push_back(outer);
  return all;
}

KERNEL_TEST_ON(stacks, on_many_pages, kStackWays) {
  const auto [ledger, report] = trace_ledger("paged_stack", way);
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
  const auto [ledger, report] = trace_ledger("huge_page_stack", way);
  expect_equal(report, ledger);
  EXPECT_GT(ledger.values.at("huge_kib"), 0u) << "/sys/kernel/mm/transparent_hugepage/enabled must not be never";
  ASSERT_EQ(report.stacks.size(), 1u);
  expect_begins_with(report.stacks[0], functions("by_malloc", 61, "descend", "work"));
}

/// With tables only, the walk does not get that far: call_on_pair is in none.
KERNEL_TEST_ON(stacks, chain_leaves_the_stack, kStackWays) {
  const auto [ledger, report] = trace_ledger("broken_chain", way);
  expect_equal(report, ledger);
  for (const ReportStack& stack : report.stacks) {
    EXPECT_EQ(stack.text(), stack.direct_caller() + " < call_on_pair");
    EXPECT_EQ(stack.unwound, unwind(way) == "cfi" ? "truncated" : "guessed");
    EXPECT_EQ(stack.end, unwind(way) == "cfi" ? "not_covered" : "unreadable_stack");
  }
}

KERNEL_TEST_OF_CALLS(processes, share_memory) {
  LedgerProgram program({.program = "sharing_children"});
  Trace trace = Trace::attach(program.pid(), way);
  const Ledger ledger = program.run();
  const Report report = trace.finish();
  if (attach_via(way) == "perf") {
    expect_equal(report, ledger);
  } else {
    EXPECT_FALSE(report.exact);
    EXPECT_EQ(report.losses.at("unseen_sharers"), ledger.values.at("children"));
  }
  program.close_input();
  EXPECT_EQ(program.wait(), 0) << "the target lives on";
}

/// A return probe on the stack above would make the kernel give up the one below, and end the process. With an
/// allocator of its own: sessions of other tests on the same file would have the kernel place that return probe all the
/// same.
constexpr std::array kSessionWays = {Way::kSessionArena, Way::kSessionHash};
KERNEL_TEST_ON(hooks, handler_above_a_call, kSessionWays) {
  const ScratchDirectory directory;
  std::filesystem::copy_file(ledger_path("libhooked_library.so"), directory.path("libhooked_library.so"));
  LedgerProgram program({.program = "hooks_above", .environment = {{"LD_LIBRARY_PATH", directory.path("")}}});
  Trace trace = Trace::attach(program.pid(), way);
  const Ledger ledger = program.run();
  const Report report = trace.finish();
  EXPECT_FALSE(report.exact);
  EXPECT_GT(report.losses.at("lost_calls"), 0u);
  program.close_input();
  EXPECT_EQ(program.wait(), 0) << "the target lives on";
}

/// Unwinding shows that the slot of the call that was left lies inside another frame. Frame pointers are not followed
/// in allocators: later calls may then be parts of that call, and are counted.
KERNEL_TEST_OF_CALLS(longjmp, over_a_hole_in_executable) {
  const auto [ledger, report] = trace_ledger("longjmp_over_hole_in_executable", way);
  if (unwind(way) != "fp") return expect_equal(report, ledger);
  EXPECT_FALSE(report.exact);
  EXPECT_EQ(report.totals.allocated_count, 0u);
  EXPECT_EQ(report.losses.at("hidden_calls"), ledger.sites.at("by_malloc").allocated_count);
}

KERNEL_TEST_OF_CALLS(hooks, hidden_in_executable) {
  const auto [ledger, report] = trace_ledger("hooks_in_executable", way);
  EXPECT_FALSE(report.exact);
  EXPECT_EQ(report.losses.at("hidden_calls"), ledger.losses.at("hidden_calls"));
  EXPECT_EQ(report.totals, ledger.sites.at("by_malloc"));
}

/// Expects that what had no room is counted as lost for `cause` and nothing else, and is in the report without a stack.
void expect_lost_for(const std::string& cause, const Report& report, const Numbers& made) {
  EXPECT_EQ(report.verified, std::optional<bool>(true));
  EXPECT_EQ(report.totals, made);
  EXPECT_TRUE(report.exact) << "of numbers none is lost";
  EXPECT_FALSE(report.stacks_complete);
  Numbers without_stack;
  for (const ReportStack& stack : report.stacks) {
    if (stack.frames.empty()) without_stack += stack.numbers;
  }
  EXPECT_GT(without_stack.allocated_count, 0u);
  for (const auto& [name, count] : report.losses) {
    EXPECT_EQ(count, name == cause ? without_stack.allocated_count : 0u) << name;
  }
}

KERNEL_TEST_OF_CALLS(stacks, table_full) {
  const auto [ledger, report] = trace_ledger("stack_table_full", way, {"--max-stacks", "16"});
  expect_sound(report);
  expect_lost_for("stack_table_full", report, ledger.sites.at("at_depth"));
}

/// Stacks that find no number take no frames either, of which there would soon be none left.
KERNEL_TEST_ON(stacks, table_full_for_long, kThree) {
  const auto [ledger, report] = trace_ledger("hundred_thousand_stacks", way, {"--max-stacks", "1000"});
  expect_sound(report);
  expect_lost_for("stack_table_full", report, ledger.sites.at("leaf"));
  EXPECT_EQ(report.losses.at("stack_table_full"), 100'000u - 1000u);
}

/// Where memory is bounded, deep stacks use their share up. The 50,000 blocks that stay find room: in a hash map they
/// take 8.1 MB. (Of a little more, frames would get another segment.)
KERNEL_TEST_ON(stacks, frames_full, kThree) {
  const std::uint64_t bytes = least_memory(way, "10000") + 8'200'000;
  LedgerProgram program({.program = "deep_stacks"});
  Trace trace = Trace::attach(program.pid(), way,
                              {"--max-stacks", "10000", "--max-memory", std::to_string(bytes), "--min-size", "98000"});
  const Ledger ledger = program.run();
  const Report report = trace.finish();
  expect_lost_for("frames_full", report, ledger.sites.at("leaf"));
  // 36 frames were set aside for each of 10,000 stacks, in two segments.
  EXPECT_LT(report.losses.at("frames_full"), 100'000u - 10'000u * 36 / 80);
}

KERNEL_TEST_ON(stacks, locations_full, kThree) {
  const auto [ledger, report] = trace_ledger("distinct_locations", way, {"--max-stacks", "5000"});
  expect_sound(report);
  expect_lost_for("frames_full", report, ledger.sites.at("leaf"));
}

KERNEL_TEST_ON(stacks, distinct_locations, kThree) {
  const auto [ledger, report] = trace_ledger("distinct_locations", way);
  expect_equal(report, ledger);
  EXPECT_EQ(report.stacks.size(), 4000u);
}

KERNEL_TEST_ON(stacks, recursion_300_deep, kStackWays) {
  const auto [ledger, report] = trace_ledger("recursion", way);
  expect_equal(report, ledger);
  ASSERT_EQ(report.stacks.size(), 1u);
  EXPECT_EQ(report.stacks[0].unwound, "truncated");
  EXPECT_EQ(report.stacks[0].end, "depth_limit");
  EXPECT_EQ(report.stacks[0].frames.back().function, "descend");
}

KERNEL_TEST_OF_CALLS(stacks, depth_limit) {
  const auto [ledger, report] = trace_ledger("recursion", way, {"--stack-depth", "5"});
  expect_equal(report, ledger);
  ASSERT_EQ(report.stacks.size(), 1u);
  EXPECT_EQ(report.stacks[0].text(), "by_malloc < descend < descend < descend < descend");
}

/// Of programs whose files are mapped at other addresses in every run.
constexpr Way kPositionIndependent[] = {Way::kSessionArena, Way::kMultiHash};
KERNEL_TEST_ON(stacks, have_the_same_fingerprints_in_every_run, kPositionIndependent) {
  std::map<std::string, std::string> fingerprints[2];
  std::set<std::uint64_t> addresses[2];
  for (int run : {0, 1}) {
    LedgerProgram program({.program = "recursion"});
    Trace trace = Trace::attach(program.pid(), way);
    program.run();
    for (const ReportStack& stack : trace.finish().stacks) {
      fingerprints[run][stack.fingerprint] = stack.text();
      for (const ReportFrame& frame : stack.frames) addresses[run].insert(frame.address);
    }
  }
  EXPECT_FALSE(fingerprints[0].empty());
  EXPECT_EQ(fingerprints[0], fingerprints[1]);
  EXPECT_NE(addresses[0], addresses[1]);
}

KERNEL_TEST_ON(stacks, preempted_on_one_cpu, kStackWays) {
  const auto [ledger, report] = trace_ledger("pinned_threads", way);
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
