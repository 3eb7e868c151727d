// What programs map beside the heap (--mappings), compared with what they write down, and with what the kernel says of
// them.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/kernel/harness/compare.h"
#include "tests/kernel/harness/kernel_test.h"
#include "tests/kernel/harness/ledger.h"
#include "tests/support/smaps.h"

namespace hawk {
namespace {

constexpr const char* kJemalloc = "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2";
constexpr const char* kMimalloc = "/usr/lib/x86_64-linux-gnu/libmimalloc.so.2";
constexpr const char* kTcmalloc = "/usr/lib/x86_64-linux-gnu/libtcmalloc_minimal.so.4";

const std::vector<std::string> kWithMappings = {"--mappings"};
constexpr Way kFastestWay[] = {Way::kSessionArena};
/// Along frame pointers the caller of a function without a frame is missed: mremap, or what tcmalloc has in place of
/// mmap.
constexpr Way kWaysByTables[] = {Way::kSessionArena, Way::kSessionHash, Way::kMultiArena, Way::kPerfHash,
                                 Way::kCfiArena};
constexpr Way kCallWaysByTables[] = {Way::kPointsArena, Way::kSessionArena, Way::kSessionHash,
                                     Way::kMultiArena,  Way::kPerfHash,     Way::kCfiArena};

/// The functions of a ledger program have such names.
constexpr std::string_view kSitePrefix = "in_";

std::string site_of(const ReportMapping& mapping) {
  for (const ReportFrame& frame : mapping.frames) {
    if (frame.function.starts_with(kSitePrefix)) return frame.function;
  }
  return {};
}

/// What the report says, as regions.h writes it: by "FUNCTION/KIND/ORIGIN/mapped".
std::map<std::string, std::uint64_t> regions_in(const Report& report) {
  std::map<std::string, std::uint64_t> regions;
  for (const ReportMapping& mapping : report.mappings) {
    EXPECT_EQ(mapping.live_bytes, mapping.mapped_bytes - mapping.unmapped_bytes);
    const std::string name = site_of(mapping) + "/" + mapping.kind + "/" + mapping.origin + "/";
    regions[name + "mapped"] += mapping.mapped_bytes;
    regions[name + "unmapped"] += mapping.unmapped_bytes;
  }
  return regions;
}

/// Expects that every function has mapped and unmapped what the ledger says, of the kind and in the name that it says.
void expect_regions(const Report& report, const Ledger& ledger) {
  EXPECT_TRUE(report.numbers_exact);
  std::map<std::string, std::uint64_t> found = regions_in(report);
  std::size_t compared = 0;
  for (const auto& [name, bytes] : ledger.values) {
    if (!name.starts_with(kSitePrefix)) continue;
    EXPECT_EQ(found[name], bytes) << name;
    ++compared;
  }
  EXPECT_GT(compared, 0u);
  for (const auto& [name, bytes] : found) {
    const bool is_own = name.find("/allocator/") == std::string::npos;
    if (name.starts_with(kSitePrefix) && is_own) {
      EXPECT_TRUE(ledger.values.contains(name)) << name;
    }
  }
}

/// Expects that there is as much of each kind as the kernel says of the process, which does nothing meanwhile.
void expect_as_in_smaps(const Report& report, pid_t pid) {
  std::map<std::string, std::uint64_t> traced = report.mapped_by_kind, known = mapped_by_kind(pid);
  // Which of the anonymous ones are stacks only hawktrace knows.
  for (auto* const kinds : {&traced, &known}) (*kinds)["anonymous"] += std::exchange((*kinds)["stack"], 0);
  EXPECT_EQ(traced, known);
}

KERNEL_TEST_ON(regions, of_every_kind, kCallWaysByTables) {
  LedgerProgram program({.program = "regions"});
  Trace trace = Trace::attach(program.pid(), way, kWithMappings);
  const Ledger ledger = program.run();
  const Report report = trace.finish();
  expect_regions(report, ledger);
  expect_as_in_smaps(report, program.pid());
}

KERNEL_TEST(regions, of_racing_threads) {
  LedgerProgram program({.program = "racing_regions"});
  Trace trace = Trace::attach(program.pid(), way, kWithMappings);
  const Ledger ledger = program.run();
  const Report report = trace.finish();
  expect_regions(report, ledger);
  expect_as_in_smaps(report, program.pid());
}

/// Of the program only what it has mapped itself; and all that the allocator has is found at calls whose blocks are.
void expect_allocators_once(Way way, const std::string& preload) {
  LedgerProgram::Setup setup = {.program = "allocator_regions"};
  if (!preload.empty()) setup.environment["LD_PRELOAD"] = preload;
  LedgerProgram program(setup);
  Trace trace = Trace::attach(program.pid(), way, kWithMappings);
  const Ledger ledger = program.run();
  const Report report = trace.finish();
  expect_regions(report, ledger);
  expect_as_in_smaps(report, program.pid());
  std::set<std::string> stacks_of_blocks;
  for (const ReportStack& stack : report.stacks) stacks_of_blocks.insert(stack.fingerprint);
  std::uint64_t by_allocator = 0;
  for (const ReportMapping& mapping : report.mappings) {
    if (mapping.origin != "allocator") continue;
    EXPECT_TRUE(stacks_of_blocks.contains(mapping.fingerprint)) << site_of(mapping);
    by_allocator += mapping.live_bytes;
  }
  EXPECT_GT(by_allocator, 0u);
}

KERNEL_TEST_ON(regions, of_glibc_counted_once, kWaysByTables) { expect_allocators_once(way, ""); }
KERNEL_TEST_ON(regions, of_jemalloc_counted_once, kCallWaysByTables) { expect_allocators_once(way, kJemalloc); }
KERNEL_TEST_ON(regions, of_mimalloc_counted_once, kCallWaysByTables) { expect_allocators_once(way, kMimalloc); }
KERNEL_TEST_ON(regions, of_tcmalloc_counted_once, kCallWaysByTables) { expect_allocators_once(way, kTcmalloc); }

/// hawktrace is stopped meanwhile. What it has missed is counted; what is mapped in the end is right all the same.
KERNEL_TEST_ON(regions, more_than_can_be_followed, kFastestWay) {
  LedgerProgram program({.program = "many_regions"});
  Trace trace = Trace::attach(program.pid(), way, kWithMappings);
  trace.process().send_signal(SIGSTOP);
  program.run();
  trace.process().send_signal(SIGCONT);
  const Report report = trace.finish();
  EXPECT_GT(report.losses.at("region_events"), 0u);
  EXPECT_FALSE(report.numbers_exact);
  expect_as_in_smaps(report, program.pid());
}

}  // namespace
}  // namespace hawk
