// What programs map beside the heap (--mappings), compared with what they write down, and with what the kernel says of
// them.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <signal.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/kernel/harness/compare.h"
#include "tests/kernel/harness/kernel_test.h"
#include "tests/kernel/harness/ledger.h"
#include "tests/kernel/harness/region_compare.h"
#include "tests/kernel/harness/traced_family.h"
#include "tests/support/scratch_directory.h"
#include "tests/support/smaps.h"

namespace hawk {
namespace {

constexpr const char* kJemalloc = "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2";
constexpr const char* kMimalloc = "/usr/lib/x86_64-linux-gnu/libmimalloc.so.2";
constexpr const char* kTcmalloc = "/usr/lib/x86_64-linux-gnu/libtcmalloc_minimal.so.4";

const std::vector<std::string> kWithMappings = {"--mappings"};
constexpr Way kFastestWay[] = {Way::kSessionArena};
/// Along frame pointers the callers of a function that uses rbp for something else are missed: of allocators and
/// tcmalloc's mmap.
constexpr Way kWaysByTables[] = {Way::kPointsArena, Way::kSessionArena, Way::kSessionHash,
                                 Way::kMultiArena,  Way::kPerfHash,     Way::kCfiArena};
constexpr Way kFewWays[] = {Way::kPointsArena, Way::kSessionHash, Way::kCfiArena};
constexpr Way kFastestFollowWay[] = {Way::kPointsArena};

/// What it has written down, and what the kernel says of it.
Report expect_followed(Way way, const LedgerProgram::Setup& setup) {
  LedgerProgram program(setup);
  Trace trace = Trace::attach(program.pid(), way, kWithMappings);
  const Ledger ledger = program.run();
  const Report report = trace.finish();
  expect_regions(report, ledger.values);
  expect_mapped(report, mapped_by_kind(program.pid()));
  return report;
}

KERNEL_TEST_OF_COUNTS(regions, of_every_kind) { expect_followed(way, {.program = "regions"}); }

KERNEL_TEST(regions, of_racing_threads) { expect_followed(way, {.program = "racing_regions"}); }

/// Of the program only what it has mapped itself; and all that the allocator has is found at calls whose blocks are.
void expect_allocators_once(Way way, const std::string& preload) {
  LedgerProgram::Setup setup = {.program = "allocator_regions"};
  if (!preload.empty()) setup.environment["LD_PRELOAD"] = preload;
  const Report report = expect_followed(way, setup);
  std::set<std::string> stacks_of_blocks;
  for (const ReportStack& stack : report.stacks) stacks_of_blocks.insert(stack.fingerprint);
  std::uint64_t by_allocator = 0;
  for (const ReportMapping& mapping : report.mappings) {
    if (mapping.origin != "allocator") continue;
    EXPECT_TRUE(stacks_of_blocks.contains(mapping.fingerprint)) << site_of(mapping.frames);
    by_allocator += mapping.live_bytes;
  }
  EXPECT_GT(by_allocator, 0u);
}

KERNEL_TEST_ON(regions, of_glibc_counted_once, kWaysByTables) { expect_allocators_once(way, ""); }
KERNEL_TEST_ON(regions, of_jemalloc_counted_once, kWaysByTables) { expect_allocators_once(way, kJemalloc); }
KERNEL_TEST_ON(regions, of_mimalloc_counted_once, kWaysByTables) { expect_allocators_once(way, kMimalloc); }
KERNEL_TEST_ON(regions, of_tcmalloc_counted_once, kWaysByTables) { expect_allocators_once(way, kTcmalloc); }

/// hawktrace is stopped meanwhile, and has little room. What it has missed is counted; what is mapped in the end is
/// right all the same.
KERNEL_TEST_ON(regions, more_than_can_be_followed, kFastestWay) {
  LedgerProgram program({.program = "many_regions"});
  Trace trace = Trace::attach(program.pid(), way, {"--mappings", "--max-stacks", "1000", "--max-memory", "32M"});
  trace.process().send_signal(SIGSTOP);
  program.run();
  trace.process().send_signal(SIGCONT);
  const Report report = trace.finish();
  EXPECT_GT(report.losses.at("region_events"), 0u);
  EXPECT_FALSE(report.numbers_exact);
  expect_mapped(report, mapped_by_kind(program.pid()));
}

KERNEL_TEST_ON(regions, of_a_thousand_threads, kFewWays) {
  LedgerProgram program({.program = "thread_stacks"});
  Trace trace = Trace::attach(program.pid(), way, kWithMappings);
  const Ledger ledger = program.run();
  const Report report = trace.finish();
  // What the C library unmaps of the stacks of threads that have ended is its own affair.
  std::map<std::string, std::uint64_t> values = ledger.values;
  for (const ReportMapping& mapping : report.mappings) {
    if (site_of(mapping.frames) == "in_maker" && mapping.kind == "stack")
      values["in_maker/stack/program/unmapped"] += mapping.unmapped_bytes;
  }
  expect_regions(report, values);
  expect_mapped(report, mapped_by_kind(program.pid()));
}

KERNEL_TEST_ON(regions, of_hostile_programs, kFewWays) { expect_followed(way, {.program = "hostile_regions"}); }

/// What cannot be known of a process that has ended is a loss; of one that lives it is found out.
KERNEL_TEST_ON(regions, of_a_process_that_ends_too_early, kFastestFollowWay) {
  const ScratchDirectory directory;
  const nlohmann::json report =
      trace_command(way, directory, {ledger_path("unknown_regions")}, {"--mappings", "--interval", "10s"});
  EXPECT_EQ(report.at("losses").at("region_events"), 1u);
  EXPECT_FALSE(report.at("numbers_exact").get<bool>());
}

}  // namespace
}  // namespace hawk
