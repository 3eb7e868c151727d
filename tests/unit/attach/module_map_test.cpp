#include "userspace/attach/module_map.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "tests/support/elf_fixture.h"
#include "userspace/attach/known_files.h"

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

/// Takes the whole list of mappings; returns the modules not seen before.
std::vector<ModuleId> take_all(ModuleMap& map, const std::vector<Mapping>& mappings) {
  std::vector<ModuleId> added;
  map.forget_mappings();
  for (const Mapping& one : mappings) {
    if (const std::optional<ModuleId> id = map.add(one)) added.push_back(*id);
  }
  return added;
}

std::optional<std::uint64_t> inode_at(const ModuleMap& map, std::uint64_t address) {
  const std::optional<ModuleAddress> found = map.resolve(address);
  return found ? std::optional(map.module(found->module).inode) : std::nullopt;
}

TEST(ModuleMap, ResolvesOnlyInsideOfMappings) {
  ModuleMap map(::getpid());
  take_all(map, {mapping(0x1000, 0x3000, 0, 1), mapping(0x5000, 0x6000, 0x2000, 2)});
  EXPECT_EQ(inode_at(map, 0xfff), std::nullopt);
  EXPECT_EQ(inode_at(map, 0x1000), 1u);
  EXPECT_EQ(inode_at(map, 0x2fff), 1u);
  EXPECT_EQ(inode_at(map, 0x3000), std::nullopt);
  EXPECT_EQ(inode_at(map, 0x5fff), 2u);
  EXPECT_EQ(map.resolve(0x5010)->vaddr, 0x2010u);
}

TEST(ModuleMap, KnowsWhetherSomethingIsMappedWhereThereIsCode) {
  ModuleMap map(::getpid());
  const Mapping first = mapping(0x1000, 0x3000, 0, 1), second = mapping(0x5000, 0x6000, 0x2000, 2);
  EXPECT_TRUE(map.has_all_code({}));
  take_all(map, {first, second});
  EXPECT_TRUE(map.has_all_code({first, second}));
  EXPECT_TRUE(map.has_all_code({mapping(0x0, 0x1001, 0, 3), mapping(0x5fff, 0x7000, 0, 3)}));
  EXPECT_FALSE(map.has_all_code({first}));
  EXPECT_FALSE(map.has_all_code({first, mapping(0x3000, 0x5000, 0, 3), mapping(0x6000, 0x7000, 0, 3)}));
  EXPECT_FALSE(map.has_all_code({}));
}

TEST(ModuleMap, DataAndAnonymousMappingsDoNotCount) {
  ModuleMap map(::getpid());
  Mapping data = mapping(0x1000, 0x2000, 0, 1);
  data.executable = false;
  Mapping anonymous = mapping(0x3000, 0x4000, 0, 0);
  anonymous.path = "";
  take_all(map, {data, anonymous});
  EXPECT_EQ(inode_at(map, 0x1000), std::nullopt);
  EXPECT_EQ(inode_at(map, 0x3000), std::nullopt);
  EXPECT_EQ(map.module_count(), 0u);
}

TEST(ModuleMap, NewMappingReplacesWhatItCovers) {
  ModuleMap map(::getpid());
  take_all(map, {mapping(0x1000, 0x5000, 0, 1)});
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
  map.add(mapping(0x6000, 0x8000, 0, 5));  // over two neighbours
  EXPECT_EQ(inode_at(map, 0x5fff), 3u);
  EXPECT_EQ(inode_at(map, 0x7fff), 5u);
  EXPECT_EQ(inode_at(map, 0x8000), 4u);
  EXPECT_EQ(map.resolve(0x8000)->vaddr, 0x1000u);
}

TEST(ModuleMap, AFileKeepsItsNumberWhenItIsMappedAgain) {
  ModuleMap map(::getpid());
  EXPECT_EQ(take_all(map, {mapping(0x1000, 0x2000, 0, 1)}).size(), 1u);
  EXPECT_TRUE(take_all(map, {mapping(0x7000, 0x8000, 0, 1)}).empty());
  EXPECT_EQ(inode_at(map, 0x1000), std::nullopt);
  EXPECT_EQ(inode_at(map, 0x7000), 1u);
  EXPECT_EQ(map.module_count(), 1u);
}

TEST(ModuleMap, OpensTheFilesOfALivingProcess) {
  ModuleMap map(::getpid());
  const Result<std::vector<Mapping>> own = read_mappings(::getpid());
  ASSERT_TRUE(own);
  take_all(map, *own);
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
  take_all(map, *own);
  const std::optional<ModuleAddress> here = map.resolve(reinterpret_cast<std::uint64_t>(&inode_at));
  ASSERT_TRUE(here);
  EXPECT_EQ(here->module, *expected);
  EXPECT_EQ(map.expect("/nonexistent/file"), std::nullopt);
}

/// The flat table with its memory of pages against the plainest way to say the same.
TEST(ModuleMap, AgreesWithALinearSearchWhateverIsMapped) {
  constexpr std::uint64_t kPages = 300;
  ModuleMap map(::getpid());
  std::vector<std::uint64_t> inode_of_page(kPages, 0);
  std::vector<std::uint64_t> offset_of_page(kPages, 0);
  std::uint32_t random = 1;
  const auto next = [&random](std::uint32_t below) {
    random = random * 1664525 + 1013904223;
    return (random >> 8) % below;
  };
  for (int round = 0; round < 400; ++round) {
    const std::uint64_t first = next(kPages - 20);
    const std::uint64_t count = 1 + next(20);
    const std::uint64_t inode = 1 + next(9);
    map.add(mapping(first << 12, (first + count) << 12, 0x5000, inode));
    for (std::uint64_t page = first; page < first + count; ++page) {
      inode_of_page[page] = inode;
      offset_of_page[page] = 0x5000 + ((page - first) << 12);
    }
    for (std::uint64_t page = 0; page < kPages; ++page) {
      const std::uint64_t address = (page << 12) + next(4096);
      ASSERT_EQ(inode_at(map, address).value_or(0), inode_of_page[page]) << round << " " << page;
      if (inode_of_page[page] == 0) continue;
      ASSERT_EQ(map.resolve(address)->vaddr, offset_of_page[page] + address % 4096) << round << " " << page;
    }
  }
}

/// A process may map more files than we may open.
TEST(ModuleMap, FilesBeyondTheAllowedNumberAreClosedAndFoundAgain) {
  ModuleMap map(::getpid(), 1);
  const Result<std::vector<Mapping>> own = read_mappings(::getpid());
  ASSERT_TRUE(own);
  std::size_t open_files = 0;
  std::size_t images = 0;
  for (const Mapping& one : *own) {
    const std::optional<ModuleId> id = map.add(one);
    if (!id) continue;
    if (map.module(*id).image) {
      EXPECT_GE(map.module(*id).image->fd(), 0);
    }
    map.settle(*id);
  }
  for (std::size_t i = 0; i < map.module_count(); ++i) {
    const ModuleId id{static_cast<std::uint32_t>(i)};
    const MappedModule& module = map.module(id);
    if (!module.image) continue;
    ++images;
    if (module.image->fd() >= 0) ++open_files;
    EXPECT_TRUE(map.load_base(id)) << module.path;
    const UniqueFd again = map.open_file(id);
    struct stat status = {};
    ASSERT_TRUE(again) << module.path;
    ASSERT_EQ(::fstat(again.get(), &status), 0);
    EXPECT_EQ(status.st_ino, module.inode) << module.path;
  }
  EXPECT_GT(images, 1u);
  EXPECT_EQ(open_files, 1u);
}

/// Within one mapping all addresses lie equally far from their file offsets, so that it is found out once.
TEST(ModuleMap, AddressesBeyondTheSegmentsLastByteAreInItsPage) {
  ModuleMap map(::getpid());
  const Result<std::vector<Mapping>> own = read_mappings(::getpid());
  ASSERT_TRUE(own);
  take_all(map, *own);
  for (const Mapping& one : *own) {
    const std::optional<ModuleAddress> first = map.resolve(one.start);
    const std::optional<ModuleAddress> last = map.resolve(one.end - 1);
    ASSERT_EQ(first.has_value(), last.has_value());
    if (!first) continue;
    EXPECT_EQ(last->vaddr - first->vaddr, one.end - 1 - one.start) << one.path;
    EXPECT_EQ(first->module, last->module) << one.path;
  }
}

/// Maps a file of ours for execution, as long as it lives.
class OwnMapping {
 public:
  explicit OwnMapping(const std::string& path) {
    const UniqueFd fd = open_regular_file(path);
    address_ = ::mmap(nullptr, kBytes, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd.get(), 0);
    EXPECT_NE(address_, MAP_FAILED);
  }
  OwnMapping(const OwnMapping&) = delete;
  OwnMapping& operator=(const OwnMapping&) = delete;
  ~OwnMapping() { ::munmap(address_, kBytes); }

  Mapping as_announced() const {
    const Result<std::vector<Mapping>> own = read_mappings(::getpid());
    for (const Mapping& one : *own) {
      if (one.start == reinterpret_cast<std::uint64_t>(address_)) return one;
    }
    return {};
  }

 private:
  static constexpr std::size_t kBytes = 4096;
  void* address_ = nullptr;
};

/// As `cp` writes it: into the file that is there.
void overwrite(const std::string& path, const std::string& with) {
  std::ofstream(path, std::ios::binary) << std::ifstream(with, std::ios::binary).rdbuf();
}

TEST(ModuleMap, ARewrittenFileIsAnother) {
  const ScratchDirectory directory;
  const std::string path = directory.path("library.so");
  overwrite(path, testing::fixture_path("placement.so"));
  ModuleMap map(::getpid());
  std::optional<ModuleId> first;
  {
    const OwnMapping mapped(path);
    first = map.add(mapped.as_announced());
    ASSERT_TRUE(first);
    EXPECT_EQ(map.add(mapped.as_announced()), std::nullopt);
    EXPECT_TRUE(map.open_file(*first));
  }
  overwrite(path, testing::fixture_path("allocator.so"));
  const OwnMapping mapped(path);
  const std::optional<ModuleId> second = map.add(mapped.as_announced());
  ASSERT_TRUE(second);
  EXPECT_EQ(map.module(*second).earlier, first);
  EXPECT_EQ(map.module(*second).inode, map.module(*first).inode);
  EXPECT_NE(map.module(*second).build_id, map.module(*first).build_id);
  EXPECT_EQ(map.add(mapped.as_announced()), std::nullopt);
  EXPECT_TRUE(map.open_file(*second));
  EXPECT_FALSE(map.open_file(*first)) << "names of the old file would be read from the new one";
}

TEST(ModuleMap, ACopyKeepsFilesThatTheOtherLetsGoOf) {
  const ScratchDirectory directory;
  const std::string path = directory.path("library.so");
  overwrite(path, testing::fixture_path("placement.so"));
  ModuleMap map(::getpid());
  const OwnMapping mapped(path);
  const std::optional<ModuleId> id = map.add(mapped.as_announced());
  ASSERT_TRUE(id);
  ASSERT_EQ(::unlink(path.c_str()), 0);
  {
    ModuleMap copy(map, ::getpid());
    EXPECT_EQ(copy.open_files(), 1u);
    copy.close_file(*id);
    EXPECT_EQ(copy.open_files(), 0u);
    EXPECT_EQ(copy.module(*id).probed_fd(), -1);
    ASSERT_TRUE(map.resolve(mapped.as_announced().start));
    EXPECT_EQ(copy.resolve(mapped.as_announced().start)->vaddr, map.resolve(mapped.as_announced().start)->vaddr);
  }
  EXPECT_EQ(map.open_files(), 1u);
  const int fd = map.module(*id).probed_fd();
  EXPECT_TRUE(map.open_file(*id));
  map.close_file(*id);
  EXPECT_EQ(::fcntl(fd, F_GETFD), -1) << "no module has it any more";
}

TEST(KnownFiles, AreKnownByTheirContentAsLongAsItIsTheSame) {
  const ScratchDirectory directory;
  const std::string path = directory.path("library.so");
  overwrite(path, testing::fixture_path("placement.so"));
  KnownFiles<int> known;
  {
    ModuleMap map(::getpid());
    const OwnMapping mapped(path);
    const std::optional<ModuleId> id = map.add(mapped.as_announced());
    ASSERT_TRUE(id);
    EXPECT_EQ(known.find(map.module(*id)), nullptr);
    known.add(map.module(*id), 7);
  }
  {
    ModuleMap map(::getpid());
    const OwnMapping mapped(path);
    const int* const found = known.find(map.module(*map.add(mapped.as_announced())));
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(*found, 7);
  }
  // Another content of the same size, with the old time of modification. The clock of file times may tick slowly.
  struct stat before = {}, now = {};
  ASSERT_EQ(::stat(path.c_str(), &before), 0);
  do {
    std::fstream(path, std::ios::binary | std::ios::in | std::ios::out).seekp(before.st_size - 1).put('x');
    const timespec times[] = {before.st_atim, before.st_mtim};
    ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
    ASSERT_EQ(::stat(path.c_str(), &now), 0);
  } while (now.st_ctim.tv_sec == before.st_ctim.tv_sec && now.st_ctim.tv_nsec == before.st_ctim.tv_nsec);
  ModuleMap map(::getpid());
  const OwnMapping mapped(path);
  EXPECT_EQ(known.find(map.module(*map.add(mapped.as_announced()))), nullptr);
}

}  // namespace
}  // namespace hawk
