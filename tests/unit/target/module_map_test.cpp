#include "userspace/target/module_map.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace hawk {
namespace {

/// Executable mappings of files that do not exist: what is tested is where addresses lead to.
Mapping mapping(std::uint64_t start, std::uint64_t end, std::uint64_t file_offset, std::uint64_t inode) {
  return {.start = start,
          .end = end,
          .file_offset = file_offset,
          .device = 1,
          .inode = inode,
          .executable = true,
          .deleted = false,
          .path = "/nowhere/lib" + std::to_string(inode) + ".so"};
}

std::optional<std::uint64_t> inode_at(const ModuleMap& map, std::uint64_t address) {
  const std::optional<ModuleAddress> found = map.resolve(address);
  return found ? std::optional(map.module(found->module).inode) : std::nullopt;
}

TEST(ModuleMap, ResolvesOnlyInsideOfMappings) {
  ModuleMap map(::getpid());
  map.replace_all({mapping(0x1000, 0x3000, 0, 1), mapping(0x5000, 0x6000, 0x2000, 2)});
  EXPECT_EQ(inode_at(map, 0xfff), std::nullopt);
  EXPECT_EQ(inode_at(map, 0x1000), 1u);
  EXPECT_EQ(inode_at(map, 0x2fff), 1u);
  EXPECT_EQ(inode_at(map, 0x3000), std::nullopt);
  EXPECT_EQ(inode_at(map, 0x5fff), 2u);
  EXPECT_EQ(map.resolve(0x5010)->vaddr, 0x2010u);
}

TEST(ModuleMap, DataAndAnonymousMappingsDoNotCount) {
  ModuleMap map(::getpid());
  Mapping data = mapping(0x1000, 0x2000, 0, 1);
  data.executable = false;
  Mapping anonymous = mapping(0x3000, 0x4000, 0, 0);
  anonymous.path = "";
  map.replace_all({data, anonymous});
  EXPECT_EQ(inode_at(map, 0x1000), std::nullopt);
  EXPECT_EQ(inode_at(map, 0x3000), std::nullopt);
  EXPECT_EQ(map.module_count(), 0u);
}

TEST(ModuleMap, NewMappingReplacesWhatItCovers) {
  ModuleMap map(::getpid());
  map.replace_all({mapping(0x1000, 0x5000, 0, 1)});
  map.add(mapping(0x2000, 0x3000, 0, 2));  // inside: both ends stay
  EXPECT_EQ(inode_at(map, 0x1fff), 1u);
  EXPECT_EQ(inode_at(map, 0x2000), 2u);
  EXPECT_EQ(inode_at(map, 0x3000), 1u);
  EXPECT_EQ(map.resolve(0x3000)->vaddr, 0x2000u);  // the far end keeps its place in the file
  map.add(mapping(0x0, 0x8000, 0, 3));             // over everything
  EXPECT_EQ(inode_at(map, 0x1000), 3u);
  EXPECT_EQ(inode_at(map, 0x4fff), 3u);
  map.add(mapping(0x7000, 0x9000, 0, 4));  // over an end
  EXPECT_EQ(inode_at(map, 0x6fff), 3u);
  EXPECT_EQ(inode_at(map, 0x8fff), 4u);
  map.add(mapping(0x6000, 0x7800, 0, 5));  // over two neighbours
  EXPECT_EQ(inode_at(map, 0x5fff), 3u);
  EXPECT_EQ(inode_at(map, 0x77ff), 5u);
  EXPECT_EQ(inode_at(map, 0x7800), 4u);
  EXPECT_EQ(map.resolve(0x7800)->vaddr, 0x800u);
}

TEST(ModuleMap, AFileKeepsItsNumberWhenItIsMappedAgain) {
  ModuleMap map(::getpid());
  EXPECT_EQ(map.replace_all({mapping(0x1000, 0x2000, 0, 1)}).size(), 1u);
  EXPECT_TRUE(map.replace_all({mapping(0x7000, 0x8000, 0, 1)}).empty());
  EXPECT_EQ(inode_at(map, 0x1000), std::nullopt);
  EXPECT_EQ(inode_at(map, 0x7000), 1u);
  EXPECT_EQ(map.module_count(), 1u);
}

TEST(ModuleMap, OpensTheFilesOfALivingProcess) {
  ModuleMap map(::getpid());
  const Result<std::vector<Mapping>> own = read_mappings(::getpid());
  ASSERT_TRUE(own);
  map.replace_all(*own);
  const std::uint64_t here = reinterpret_cast<std::uint64_t>(&::getpid);
  const std::optional<ModuleAddress> libc = map.resolve(here);
  ASSERT_TRUE(libc);
  const MappedModule& module = map.module(libc->module);
  ASSERT_TRUE(module.image);
  EXPECT_FALSE(module.build_id.empty());
  EXPECT_EQ(map.load_base(libc->module), here - libc->vaddr);
  const std::vector<AddressRange> ranges = map.ranges_of(libc->module);
  EXPECT_TRUE(std::any_of(ranges.begin(), ranges.end(),
                          [&](const AddressRange& range) { return here >= range.start && here < range.end; }));
}

TEST(ModuleMap, AnExpectedFileIsTheOneThatIsMappedLater) {
  ModuleMap map(::getpid());
  const std::optional<ModuleId> expected = map.expect("/proc/self/exe");
  ASSERT_TRUE(expected);
  const Result<std::vector<Mapping>> own = read_mappings(::getpid());
  ASSERT_TRUE(own);
  map.replace_all(*own);
  const std::optional<ModuleAddress> here = map.resolve(reinterpret_cast<std::uint64_t>(&inode_at));
  ASSERT_TRUE(here);
  EXPECT_EQ(here->module, *expected);
  EXPECT_EQ(map.expect("/nonexistent/file"), std::nullopt);
}

}  // namespace
}  // namespace hawk
