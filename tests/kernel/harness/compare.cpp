#include "tests/kernel/harness/compare.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace hawk {
namespace {

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
  bool none = true;
  for (const auto& [cause, count] : report.losses) {
    const auto announced = ledger.losses.find(cause);
    EXPECT_EQ(count, announced == ledger.losses.end() ? 0 : announced->second) << "losses." << cause;
    none = none && count == 0;
  }
  for (const auto& [cause, count] : ledger.losses) EXPECT_TRUE(report.losses.contains(cause)) << "losses." << cause;
  EXPECT_EQ(report.exact, none) << "exact means that every loss is zero";
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
      ADD_FAILURE() << "a stack that no function of the ledger called the allocator with: " << stack.text() << "\n  "
                    << stack.numbers;
    }
  }
  for (const auto& [function, count] : ledger.foreign) {
    EXPECT_EQ(foreign[function].allocated_count, count) << function;
    EXPECT_EQ(foreign[function].freed_count, count) << function;
    EXPECT_EQ(foreign[function].freed_bytes, foreign[function].allocated_bytes) << function;
  }
  return sums;
}

}  // namespace

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
    EXPECT_EQ(report.stacks.size(), stacks->second) << "number of stacks";
  }
  if (const auto frees = ledger.values.find("untraced_frees"); frees != ledger.values.end()) {
    EXPECT_EQ(report.frees_of_untraced, frees->second) << "frees of blocks older than the trace";
  }
}

}  // namespace hawk
