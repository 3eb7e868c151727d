#include "userspace/tables/fingerprint.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "userspace/tables/location_table.h"

namespace hawk {
namespace {

/// A snapshot of one stack, in which the modules are mapped and numbered as the run has it.
struct TracedRun {
  Snapshot snapshot;
  LocationTable locations;

  ModuleId add_module(const std::string& path, const std::string& build_id) {
    snapshot.modules.push_back({path, build_id});
    return static_cast<ModuleId>(snapshot.modules.size() - 1);
  }
  std::uint64_t fingerprint(const std::vector<Location>& frames) {
    std::vector<LocationId> ids;
    for (const Location& frame : frames) ids.push_back(locations.number_of(frame));
    snapshot.locations = locations.locations();
    StackRecord stack;
    stack.id = StackId{7};
    stack.frames = StackFrames(std::move(ids));
    return Fingerprints(snapshot).of(stack);
  }
};

constexpr std::uint64_t kOneBase = 0x550000000000;
constexpr std::uint64_t kOtherBase = 0x7f1234560000;

TEST(Fingerprints, AreTheSameWhereverAndInWhateverOrderFilesAreMapped) {
  TracedRun one;
  const ModuleId exe = one.add_module("/usr/bin/shop", "aa01");
  const ModuleId libc = one.add_module("/lib/libc.so.6", "bb02");
  TracedRun other;
  const ModuleId other_libc = other.add_module("/sysroot/lib/libc.so.6", "bb02");
  const ModuleId other_exe = other.add_module("/opt/shop", "aa01");
  other.fingerprint({{1, other_exe, 1}});  // its locations have other numbers
  EXPECT_EQ(one.fingerprint({{kOneBase + 0x10, exe, 0x10}, {kOneBase + 0x20, libc, 0x20}}),
            other.fingerprint({{kOtherBase + 0x10, other_exe, 0x10}, {kOtherBase + 0x20, other_libc, 0x20}}));
}

TEST(Fingerprints, DifferInEachFrameAndInTheirOrder) {
  TracedRun run;
  const ModuleId exe = run.add_module("/usr/bin/shop", "aa01");
  const ModuleId newer = run.add_module("/usr/bin/shop", "aa02");
  const std::uint64_t stack = run.fingerprint({{0, exe, 0x10}, {0, exe, 0x20}});
  EXPECT_NE(stack, run.fingerprint({{0, exe, 0x20}, {0, exe, 0x10}}));
  EXPECT_NE(stack, run.fingerprint({{0, exe, 0x10}, {0, exe, 0x21}}));
  EXPECT_NE(stack, run.fingerprint({{0, exe, 0x10}}));
  EXPECT_NE(stack, run.fingerprint({{0, exe, 0x10}, {0, newer, 0x20}}));
  EXPECT_NE(stack, run.fingerprint({{0, exe, 0x10}, {0, exe, 0x20, true}}));
  EXPECT_NE(stack, run.fingerprint({{0, exe, 0x10}, {0x20, std::nullopt, 0}}));
}

TEST(Fingerprints, AFileWithoutBuildIdIsKnownByItsPath) {
  TracedRun one;
  TracedRun other;
  const ModuleId plain = one.add_module("/usr/bin/plain", "");
  const ModuleId elsewhere = other.add_module("/opt/plain", "");
  EXPECT_NE(one.fingerprint({{0, plain, 1}}), other.fingerprint({{0, elsewhere, 1}}));
}

TEST(Fingerprints, CodeInNoFileIsTheSameWhereverItIs) {
  TracedRun run;
  EXPECT_EQ(run.fingerprint({{0x1000, std::nullopt, 0}}), run.fingerprint({{0x2000, std::nullopt, 0}}));
}

TEST(Fingerprints, WhatWasNotRecordedHasNone) { EXPECT_EQ(Fingerprints(Snapshot()).of(StackRecord()), 0U); }

}  // namespace
}  // namespace hawk
