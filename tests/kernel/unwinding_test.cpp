// Stacks of programs without frame pointers: complete, and right address by address, or flagged.
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>

#include "tests/kernel/harness/compare.h"
#include "tests/kernel/harness/kernel_test.h"
#include "tests/kernel/harness/ledger.h"
#include "tests/kernel/harness/recorded_trace.h"
#include "tests/kernel/harness/return_probe.h"
#include "tests/kernel/harness/traced_ledger.h"

namespace hawk {
namespace {

/// By tables with guesses where there are none, and by tables alone.
constexpr Way kUnwindWays[] = {Way::kSessionArena, Way::kCfiArena};
constexpr Way kTablesOnly[] = {Way::kCfiArena};

/// The names of tests and of the programs whose stacks are all complete.
constexpr const char* kComplete[][2] = {
    {"signal_frames", "signal_frames"},
    {"alternate_signal_stacks", "signal_frames_elsewhere"},
    {"realigned_frames", "realigned_frames"},
    {"sizes_known_at_run_time", "sized_frames"},
    {"exceptions", "exceptions"},
    {"coroutines", "coroutines"},
    {"contexts", "contexts"},
    {"ends_of_threads", "thread_ends"},
    {"noreturn_calls", "noreturn_calls"},
};

/// Compilers, levels and ways to link; each has a program of its own.
constexpr const char* kVariants[] = {"gcc_O2_pie",   "gcc_O2_static",   "gcc_O3_pie",   "gcc_O3_static",
                                     "clang_O2_pie", "clang_O2_static", "clang_O3_pie", "clang_O3_static"};

const int kRegistered = [] {
  for (const auto& [name, program] : kComplete) {
    const auto body = [program = program](Way way) {
      const TracedLedger traced = trace_to_end({.program = program}, way);
      expect_equal(traced.report, traced.ledger);
    };
    register_kernel_test("unwinding", name, body, kUnwindWays);
  }
  for (const std::string variant : kVariants) {
    const auto body = [variant](Way way) {
      const TracedLedger traced = trace_to_end({.program = "functions_" + variant}, way);
      expect_equal(traced.report, traced.ledger);
    };
    register_kernel_test("unwinding", "functions_" + variant, body, kTablesOnly);
  }
  return 0;
}();

/// The stacks that call the allocator from `function`.
std::vector<ReportStack> stacks_of(const Report& report, const std::string& function) {
  std::vector<ReportStack> stacks;
  std::copy_if(report.stacks.begin(), report.stacks.end(), std::back_inserter(stacks),
               [&](const ReportStack& stack) { return stack.direct_caller() == function; });
  EXPECT_FALSE(stacks.empty()) << function;
  return stacks;
}

bool begins_with(const std::vector<std::string>& whole, const std::vector<std::string>& beginning) {
  return whole.size() >= beginning.size() && std::equal(beginning.begin(), beginning.end(), whole.begin());
}

/// Expects that all stacks of the first of `functions` begin with these, end in _start, and are `unwound` so.
void expect_whole(const Report& report, const std::vector<std::string>& functions, const std::string& unwound) {
  for (const ReportStack& stack : stacks_of(report, functions.front())) {
    EXPECT_TRUE(begins_with(stack.functions(), functions)) << stack.text();
    EXPECT_EQ(stack.functions().back(), "_start") << stack.text();
    EXPECT_EQ(stack.unwound, unwound) << stack.text();
    EXPECT_EQ(stack.end, "outermost_frame") << stack.text();
  }
}

/// Expects that all stacks of the first of `functions` are these and no more, for the reason `end`.
void expect_cut(const Report& report, const std::vector<std::string>& functions, const std::string& end) {
  for (const ReportStack& stack : stacks_of(report, functions.front())) {
    EXPECT_EQ(stack.functions(), functions);
    EXPECT_EQ(stack.unwound, "truncated") << stack.text();
    EXPECT_EQ(stack.end, end) << stack.text();
  }
}

/// Expects that no stack of the first of `functions` is called complete, although its beginning is right.
void expect_flagged(const Report& report, const std::vector<std::string>& functions) {
  for (const ReportStack& stack : stacks_of(report, functions.front())) {
    EXPECT_TRUE(begins_with(stack.functions(), functions)) << stack.text();
    EXPECT_NE(stack.unwound, "complete") << stack.text();
  }
}

KERNEL_TEST_ON(unwinding, generated_code, kUnwindWays) {
  const auto [ledger, report] = trace_to_end({.program = "jit_region"}, way);
  expect_equal_but_flagged(report, ledger);
  if (unwind(way) == "cfi") {
    expect_cut(report, {"below_frame", ""}, "no_code");
    expect_cut(report, {"below_no_frame", ""}, "no_code");
  } else {
    expect_whole(report, {"below_frame", "", "call_generated", "main"}, "guessed");
    expect_flagged(report, {"below_no_frame", ""});
  }
}

KERNEL_TEST_ON(unwinding, code_without_tables, kUnwindWays) {
  const auto [ledger, report] = trace_to_end({.program = "without_tables", .arguments = {ledger_path("")}}, way);
  expect_equal_but_flagged(report, ledger);
  expect_whole(report, {"below_debug_frame", "through_library", "call_library", "main"}, "complete");
  if (unwind(way) == "cfi") {
    expect_cut(report, {"below_gap", "through_library"}, "not_covered");
    expect_cut(report, {"below_no_table", "through_library"}, "no_table");
    expect_cut(report, {"below_no_frame", "through_library"}, "no_table");
  } else {
    expect_whole(report, {"below_gap", "through_library", "call_library", "main"}, "guessed");
    expect_whole(report, {"below_no_table", "through_library", "call_library", "main"}, "guessed");
    expect_flagged(report, {"below_no_frame", "through_library"});
  }
}

KERNEL_TEST_ON(unwinding, as_deep_as_can_be, kUnwindWays) {
  const auto [ledger, report] =
      trace_to_end({.program = "recursion", .arguments = {"256"}}, way, {"--stack-depth", "256"});
  expect_equal(report, ledger);
  EXPECT_EQ(ledger.values.at("frames"), 256u);
}

KERNEL_TEST_ON(unwinding, one_frame_too_deep, kUnwindWays) {
  const auto [ledger, report] =
      trace_to_end({.program = "recursion", .arguments = {"257"}}, way, {"--stack-depth", "256"});
  expect_equal(report, ledger);
  ASSERT_EQ(report.stacks.size(), 1u);
  EXPECT_EQ(report.stacks[0].functions().size(), 256u);
  EXPECT_EQ(report.stacks[0].unwound, "truncated");
  EXPECT_EQ(report.stacks[0].end, "depth_limit");
}

KERNEL_TEST_ON(unwinding, return_probes_of_others, kUnwindWays) {
  LedgerProgram program({.program = "probed_from_outside"});
  const ReturnProbe before(program.pid(), "probed_outer");
  Trace trace = Trace::attach(program.pid(), way);
  const ReturnProbe after(program.pid(), "probed_descend");
  const Ledger ledger = program.run();
  expect_equal(trace.finish(), ledger);
}

// The stacks end where nothing can be found out, but never before the direct caller.
KERNEL_TEST_ON(unwinding, return_probes_of_others_while_mappings_change, kCallWays) {
  LedgerProgram program({.program = "probed_while_mapping"});
  const ReturnProbe on_malloc(program.pid(), "malloc");
  const ReturnProbe on_calloc(program.pid(), "calloc");
  const ReturnProbe on_realloc(program.pid(), "realloc");
  Trace trace = Trace::attach(program.pid(), way);
  const Ledger ledger = program.run();
  const Report report = trace.finish();
  expect_sound(report);
  EXPECT_TRUE(report.exact);
  std::map<std::string, Numbers> sums;
  for (const ReportStack& stack : report.stacks) sums[stack.direct_caller()] += stack.numbers;
  EXPECT_EQ(sums, ledger.sites);
}

/// Bytes in complete stacks, and in all.
struct Share {
  std::uint64_t complete = 0;
  std::uint64_t all = 0;

  void add(const ReportStack& stack) {
    all += stack.numbers.allocated_bytes;
    if (stack.unwound == "complete") complete += stack.numbers.allocated_bytes;
  }
  void print(const char* what) const {
    std::printf("%s: %.2f %% of %llu bytes are in stacks that are flagged\n", what,
                all == 0 ? 0.0 : 100.0 * static_cast<double>(all - complete) / static_cast<double>(all),
                static_cast<unsigned long long>(all));
  }
};

/// Elsewhere: in the dynamic linker and in libc, some of whose code keeps its caller in registers that are not
/// followed.
KERNEL_TEST_ON(unwinding, every_instruction, kUnwindWays) {
  keep_names_in_recordings();  // stacks pass through the vDSO, which is in no file
  const auto [ledger, report] = trace_to_end({.program = "stepped"}, way);
  expect_equal_but_flagged(report, ledger);
  const std::vector<ReportStack> ours = stacks_of(report, "in_handler");
  for (const ReportStack& stack : ours) EXPECT_EQ(stack.unwound, "complete") << stack.end << ": " << stack.text();
  EXPECT_EQ(std::ssize(ours), std::count_if(ledger.stacks.begin(), ledger.stacks.end(),
                                            [](const NotedStack& stack) { return stack.first == "in_handler"; }));
  Share elsewhere;
  for (const ReportStack& stack : stacks_of(report, "in_handler_elsewhere")) {
    elsewhere.add(stack);
    if (stack.unwound != "complete") {
      EXPECT_EQ(stack.end, "unsupported_rule") << stack.text();
    }
  }
  elsewhere.print("at instructions of libraries");
  EXPECT_GT(elsewhere.complete, 0u);
}

/// Expects of stacks from code that was mapped over other code a moment ago: right or flagged. The code has no name.
void expect_right_or_flagged(const std::vector<ReportStack>& stacks, const std::string& site) {
  const std::vector<std::string> around = {"call_mapped", "main"};
  Share share;
  for (const ReportStack& stack : stacks) {
    share.add(stack);
    std::vector<std::string> functions = stack.functions();
    functions.erase(functions.begin(), functions.begin() + std::min<std::ptrdiff_t>(2, std::ssize(functions)));
    if (stack.unwound == "complete") {
      ASSERT_TRUE(begins_with(functions, around)) << stack.text();
      EXPECT_EQ(functions.back(), "_start") << stack.text();
    } else if (stack.unwound == "truncated") {
      EXPECT_TRUE(begins_with(functions, around) || begins_with(around, functions)) << stack.text();
    }
  }
  share.print(site.c_str());
}

KERNEL_TEST_ON(unwinding, code_mapped_over_other_code, kUnwindWays) {
  const auto [ledger, report] = trace_to_end({.program = "mapped_over", .arguments = {ledger_path("")}}, way);
  expect_equal_but_flagged(report, ledger);
  for (const char* site : {"on_known", "on_elsewhere"}) {
    for (const ReportStack& stack : stacks_of(report, site)) {
      EXPECT_EQ(stack.unwound, "complete")
          << site << ": its file was mapped before the trace began, but: " << stack.end;
    }
  }
  for (const char* site : {"on_known", "on_elsewhere", "on_first", "on_second"}) {
    expect_right_or_flagged(stacks_of(report, site), site);
  }
}

KERNEL_TEST_OF_CALLS(unwinding, remembered_walks) {
  const auto [ledger, report] = trace_to_end({.program = "remembered_walks"}, way);
  expect_equal(report, ledger);
}

KERNEL_TEST_OF_CALLS(unwinding, remembered_walks_without_frames) {
  const auto [ledger, report] = trace_to_end({.program = "remembered_walks_without_frames"}, way);
  expect_equal(report, ledger);
}

/// The dynamic linker allocates too, so that only our own stacks can be compared.
KERNEL_TEST_ON(unwinding, libraries_come_and_go, kUnwindWays) {
  const auto [ledger, report] = trace_to_end({.program = "reloaded_libraries", .arguments = {ledger_path("")}}, way);
  expect_sound(report);
  EXPECT_TRUE(report.exact);
  std::map<std::string, Numbers> sums;
  std::map<std::string, Share> shares;
  for (const ReportStack& stack : report.stacks) {
    const std::string site = stack.direct_caller();
    sums[site] += stack.numbers;
    if (!ledger.sites.contains(site)) continue;
    shares["all layouts"].add(stack);
    expect_noted_or_flagged(stack, ledger);
  }
  for (const auto& [site, numbers] : ledger.sites) EXPECT_EQ(sums[site], numbers) << site;
  shares["all layouts"].print("all layouts");
}

}  // namespace
}  // namespace hawk
