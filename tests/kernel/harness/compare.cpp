#include "tests/kernel/harness/compare.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <set>

namespace hawk {
namespace {

/// What may fall into the gap: single allocations, and one in so many of them.
constexpr std::uint64_t kGapAllocations = 10;
constexpr std::uint64_t kGapOneIn = 100;

bool is_live_difference(const Numbers& live, const Numbers& counters) {
  return live.allocated_bytes == counters.allocated_bytes - counters.freed_bytes &&
         live.allocated_count == counters.allocated_count - counters.freed_count;
}

/// Whether any frame is `function`, wherever it is.
bool contains(const ReportStack& stack, const Ledger& ledger) {
  return std::any_of(stack.frames.begin(), stack.frames.end(),
                     [&](const ReportFrame& frame) { return ledger.sites.contains(frame.function); });
}

void expect_losses(const Report& report, const Ledger& ledger) {
  const std::set<std::string> of_stacks = {"stack_table_full", "frames_full", "truncated_stacks"};
  bool none = true;
  for (const auto& [cause, count] : report.losses) {
    const auto announced = ledger.losses.find(cause);
    EXPECT_EQ(count, announced == ledger.losses.end() ? 0 : announced->second) << "losses." << cause;
    none = none && (count == 0 || of_stacks.contains(cause));
  }
  for (const auto& [cause, count] : ledger.losses) EXPECT_TRUE(report.losses.contains(cause)) << "losses." << cause;
  EXPECT_EQ(report.exact, none) << "exact means that every loss of numbers is zero";
}

/// Sums the report's stacks by direct caller; what no function of the ledger explains is a failure.
std::map<std::string, Numbers> sum_by_site(const Report& report, const Ledger& ledger) {
  std::map<std::string, Numbers> sums;
  std::map<std::string, Numbers> foreign;
  for (const ReportStack& stack : report.stacks) {
    const std::string caller = stack.direct_caller();
    if (ledger.sites.contains(caller)) {
      sums[caller] += stack.numbers;
    } else if (ledger.foreign.contains(caller)) {
      foreign[caller] += stack.numbers;
    } else if (!ledger.totals || contains(stack, ledger)) {
      ADD_FAILURE() << "a stack that no function of the ledger called the allocator with: " << stack.text() << " ("
                    << stack.unwound << ", " << stack.end << ")\n  " << stack.numbers;
    }
  }
  for (const auto& [function, count] : ledger.foreign) {
    EXPECT_EQ(foreign[function].allocated_count, count) << function;
    EXPECT_EQ(foreign[function].freed_count, count) << function;
    EXPECT_EQ(foreign[function].freed_bytes, foreign[function].allocated_bytes) << function;
  }
  return sums;
}

/// Whether a stack that was noted begins with `found`.
bool is_beginning(const NotedStack& found, const std::set<NotedStack>& noted) {
  return std::any_of(noted.begin(), noted.end(), [&](const NotedStack& whole) {
    return whole.first == found.first && whole.second.size() >= found.second.size() &&
           std::equal(found.second.begin(), found.second.end(), whole.second.begin());
  });
}

std::string text_of(const NotedStack& stack) {
  std::string text = stack.first;
  for (const std::uint64_t address : stack.second) text += " < " + std::to_string(address);
  return text;
}

NotedStack noted_form(const ReportStack& stack) { return {stack.direct_caller(), stack.addresses_above()}; }

/// Every stack that the ledger noted is there. One example of what is wrong is enough.
void expect_all_noted(const Report& report, const Ledger& ledger) {
  std::set<NotedStack> found;
  for (const ReportStack& stack : report.stacks) found.insert(noted_form(stack));
  for (const NotedStack& stack : ledger.stacks) ASSERT_TRUE(found.contains(stack)) << "missing: " << text_of(stack);
}

/// Allocations whose walk met a change of mappings: they are counted apart, but may not be many.
void expect_small_gap(const Report& report) {
  std::uint64_t in_gap = 0;
  for (const ReportStack& stack : report.stacks) in_gap += stack.fell_into_gap() ? stack.numbers.allocated_count : 0;
  if (in_gap == 0) return;
  std::printf("%llu of %llu allocations while mappings were changing\n", static_cast<unsigned long long>(in_gap),
              static_cast<unsigned long long>(report.totals.allocated_count));
  EXPECT_LE(in_gap, kGapAllocations + report.totals.allocated_count / kGapOneIn) << "mappings were changing";
}

void expect_unwound(const Report& report, const Ledger& ledger) {
  std::set<std::string> noting;
  for (const NotedStack& stack : ledger.stacks) noting.insert(stack.first);
  std::uint64_t incomplete = 0;
  std::string example;
  for (const ReportStack& stack : report.stacks) {
    if (noting.contains(stack.direct_caller())) expect_noted_or_flagged(stack, ledger);
    if (testing::Test::HasFailure()) return;  // one example is enough
    if (stack.unwound == "complete" || stack.frames.empty() || stack.fell_into_gap()) continue;
    ++incomplete;
    example = stack.unwound + ", " + stack.end + ": " + stack.text();
  }
  const auto announced = ledger.values.find("incomplete_stacks");
  EXPECT_EQ(incomplete, announced == ledger.values.end() ? 0 : announced->second) << "not complete, one: " << example;
  if (incomplete == 0) expect_all_noted(report, ledger);
  expect_small_gap(report);
}

}  // namespace

void expect_noted_or_flagged(const ReportStack& stack, const Ledger& ledger) {
  const NotedStack found = noted_form(stack);
  if (stack.unwound == "complete") {
    EXPECT_TRUE(ledger.stacks.contains(found)) << "was never called so: " << stack.text() << "\n" << text_of(found);
  } else if (stack.unwound == "truncated") {
    EXPECT_TRUE(is_beginning(found, ledger.stacks)) << "was never called so: " << stack.text() << "\n"
                                                    << text_of(found);
  }
}

void expect_sound(const Report& report) {
  Numbers sum;
  for (const ReportStack& stack : report.stacks) {
    EXPECT_TRUE(is_live_difference(stack.live, stack.numbers)) << stack.text();
    EXPECT_GE(stack.numbers.allocated_count, 1u) << stack.text();
    sum += stack.numbers;
  }
  EXPECT_EQ(report.totals, sum) << "totals are the sum over all stacks";
  EXPECT_TRUE(is_live_difference(report.live, report.totals)) << "live = allocated - freed";
  EXPECT_EQ(report.verified, std::optional<bool>(true)) << "counters agree with the kernel's live table";
}

void expect_equal(const Report& report, const Ledger& ledger) {
  expect_sound(report);
  expect_losses(report, ledger);
  std::map<std::string, Numbers> sums = sum_by_site(report, ledger);
  for (const auto& [function, numbers] : ledger.sites) EXPECT_EQ(sums[function], numbers) << function;
  if (ledger.totals) {
    EXPECT_EQ(report.totals, *ledger.totals) << "totals";
  }
  if (const auto stacks = ledger.values.find("stacks"); stacks != ledger.values.end()) {
    const auto gap = std::count_if(report.stacks.begin(), report.stacks.end(),
                                   [](const ReportStack& stack) { return stack.fell_into_gap(); });
    EXPECT_EQ(report.stacks.size() - static_cast<std::size_t>(gap), stacks->second) << "number of stacks";
  }
  if (const auto frees = ledger.values.find("untraced_frees"); frees != ledger.values.end()) {
    EXPECT_EQ(report.frees_of_untraced, frees->second) << "frees of blocks older than the trace";
  }
  if (report.unwind != "fp") expect_unwound(report, ledger);
}

void expect_equal_but_flagged(const Report& report, Ledger ledger) {
  ledger.values["incomplete_stacks"] = static_cast<std::uint64_t>(
      std::count_if(report.stacks.begin(), report.stacks.end(), [](const ReportStack& stack) {
        return stack.unwound != "complete" && !stack.frames.empty() && !stack.fell_into_gap();
      }));
  expect_equal(report, ledger);
}

}  // namespace hawk
