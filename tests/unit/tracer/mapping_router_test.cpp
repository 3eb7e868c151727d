#include "userspace/tracer/mapping_router.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string_view>
#include <vector>

namespace hawk {
namespace {

hawk_mapping_event event_of(std::uint32_t target, hawk_mapping_event_kind kind) {
  hawk_mapping_event event = {};
  event.target = target;
  event.kind = kind;
  return event;
}

/// A mapping of "/lib/NAME".
hawk_mapping_event mapping_of(std::uint32_t target, std::uint64_t start, std::string_view name) {
  hawk_mapping_event event = event_of(target, HAWK_MAPPING_MADE);
  event.start = start;
  event.end = start + 0x1000;
  event.device = 8 << 20 | 1;
  event.inode = 77;
  std::memcpy(event.path, name.data(), name.size());
  std::memcpy(event.path + name.size() + 1, "lib", 3);
  event.path_bytes = static_cast<__u32>(name.size() + 1 + 4);
  return event;
}

TEST(MappingRouter, EachProcessGetsItsOwn) {
  MappingRouter router;
  router.follow(10);
  router.follow(20);
  router.add(mapping_of(10, 0x1000, "a.so"));
  router.add(mapping_of(20, 0x1000, "b.so"));
  router.add(mapping_of(10, 0x5000, "c.so"));
  hawk_mapping_event exec = event_of(20, HAWK_PROGRAM_REPLACED);
  std::memcpy(exec.comm, "server", 6);
  router.add(exec);

  const MappingChanges first = router.take(10);
  ASSERT_EQ(first.mapped.size(), 2U);
  EXPECT_EQ(first.mapped[0].path, "/lib/a.so");
  EXPECT_EQ(first.mapped[0].device, std::uint64_t{8} << 32 | 1);
  EXPECT_EQ(first.mapped[1].path, "/lib/c.so");
  EXPECT_FALSE(first.last_exec);
  EXPECT_FALSE(first.read_all);

  const MappingChanges second = router.take(20);
  ASSERT_EQ(second.mapped.size(), 1U) << "kept while the other one took its own";
  EXPECT_EQ(second.mapped[0].path, "/lib/b.so");
  ASSERT_TRUE(second.last_exec);
  EXPECT_EQ(second.last_exec->comm, "server");
}

TEST(MappingRouter, AProgramsMappingsAreItsFileAndWhatComesAfterIt) {
  MappingRouter router;
  router.follow(10);
  hawk_mapping_event exec = event_of(10, HAWK_PROGRAM_REPLACED);
  std::memcpy(exec.path, "server\0bin", 11);
  exec.path_bytes = 11;
  for (const hawk_mapping_event& event :
       {mapping_of(10, 0x1000, "a.so"), exec, mapping_of(10, 0x2000, "b.so"), mapping_of(10, 0x3000, "server")}) {
    router.add(event);
  }
  std::memcpy(exec.path + 7, "lib", 4);
  router.add(exec);
  router.add(mapping_of(10, 0x4000, "c.so"));
  const MappingChanges changes = router.take(10);
  EXPECT_EQ(changes.mapped.size(), 4U);
  EXPECT_EQ(changes.execs, 2U);
  std::vector<std::uint64_t> starts;
  for (const Mapping& mapping : changes.of_last_program()) starts.push_back(mapping.start);
  EXPECT_EQ(starts, (std::vector<std::uint64_t>{0x3000, 0x4000}));
}

TEST(MappingRouter, WhatWasTakenIsNotToldAgain) {
  MappingRouter router;
  router.follow(10);
  router.add(mapping_of(10, 0x1000, "a.so"));
  EXPECT_EQ(router.take(10).mapped.size(), 1U);
  EXPECT_TRUE(router.take(10).mapped.empty());
}

TEST(MappingRouter, LostRecordsMayHaveBeenOfAnyProcess) {
  MappingRouter router;
  router.follow(10);
  router.follow(20);
  router.note_lost();
  EXPECT_TRUE(router.take(10).read_all);
  EXPECT_FALSE(router.take(10).read_all);
  EXPECT_TRUE(router.take(20).read_all);
}

/// A child that was born meanwhile: not even its birth may be among what came.
TEST(MappingRouter, LostRecordsMayHaveBeenOfOneThatIsFollowedOnlyThen) {
  MappingRouter router(true);
  router.add(mapping_of(10, 0x1000, "a.so"));
  router.note_lost();
  router.follow(20);
  EXPECT_TRUE(router.take(20).read_all);
  router.follow(20);
  EXPECT_FALSE(router.take(20).read_all);
  router.add(mapping_of(30, 0x1000, "a.so"));
  EXPECT_TRUE(router.take(30).read_all);
}

TEST(MappingRouter, AChangeThatIsNotToldInFullIsThatProcessesAlone) {
  MappingRouter router;
  router.follow(10);
  router.follow(20);
  router.add(event_of(10, HAWK_MAPPINGS_CHANGED));
  EXPECT_FALSE(router.take(20).read_all);
  EXPECT_TRUE(router.take(10).read_all);
}

TEST(MappingRouter, OfAProcessThatIsNotFollowedNothingIsKept) {
  MappingRouter router;
  router.add(mapping_of(10, 0x1000, "a.so"));
  EXPECT_TRUE(router.take(10).mapped.empty());
  router.follow(10);
  EXPECT_TRUE(router.take(10).mapped.empty()) << "from now on";
  router.add(mapping_of(10, 0x1000, "a.so"));
  router.forget(10);
  EXPECT_TRUE(router.take(10).mapped.empty());
}

TEST(MappingRouter, OneMappingThatIsEnteredTwiceIsOne) {
  MappingRouter router;
  router.follow(10);
  router.follow(20);
  router.add(mapping_of(10, 0x1000, "a.so"));
  router.add(mapping_of(20, 0x1000, "a.so"));
  router.add(mapping_of(10, 0x1000, "a.so"));
  EXPECT_EQ(router.take(10).mapped.size(), 1U);
}

}  // namespace
}  // namespace hawk
