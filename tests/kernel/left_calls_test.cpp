// Calls that are left, or go on after others, where what was asked for has been seen, and what is returned has not. A
// call that is left gives the program nothing; only what became of the block that a realloc was given is not known.
#include "tests/kernel/harness/compare.h"
#include "tests/kernel/harness/kernel_test.h"
#include "tests/kernel/harness/ledger.h"
#include "tests/kernel/harness/traced_ledger.h"

namespace hawk {
namespace {

TracedLedger trace_left(Way way, const std::string& program, const std::vector<std::string>& arguments) {
  return trace_to_end({.program = program, .arguments = arguments}, way);
}

/// All is equal but that so many calls have been abandoned. With return probes that is all of them.
void expect_left(Way way, TracedLedger traced) {
  const bool by_points = way == Way::kPointsArena;
  traced.ledger.losses["abandoned_calls"] = traced.ledger.values.at(by_points ? "left_with_a_block" : "left");
  expect_equal(traced.report, traced.ledger);
}

KERNEL_TEST_OF_COUNTS(left_calls, by_siglongjmp) {
  expect_left(way, trace_left(way, "left_between_points", {"jumps"}));
}

KERNEL_TEST_OF_COUNTS(left_calls, by_the_end_of_a_thread) {
  expect_left(way, trace_left(way, "left_between_points", {"ends"}));
}

/// With points what is thrown passes as through any function; with return probes it would end the program.
KERNEL_TEST_ON(left_calls, by_exceptions, kPointsWays) {
  const TracedLedger traced = trace_left(way, "thrown_between_points", {});
  expect_equal(traced.report, traced.ledger);
  EXPECT_EQ(traced.report.calls_at_points.at("malloc"), traced.report.totals.allocated_count);
}

/// One context for each function; of what the last one was given, a block, nothing is known as long as it does not
/// return.
KERNEL_TEST_OF_COUNTS(left_calls, by_switching_contexts) {
  const bool by_points = way == Way::kPointsArena;
  expect_left(way, trace_left(way, "left_between_points", {"switches", by_points ? "5" : "4"}));
}

KERNEL_TEST_OF_COUNTS(left_calls, interrupted_and_resumed) {
  const TracedLedger traced = trace_left(way, "left_between_points", {"returns"});
  expect_equal(traced.report, traced.ledger);
}

}  // namespace
}  // namespace hawk
