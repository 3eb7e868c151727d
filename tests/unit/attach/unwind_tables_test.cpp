#include "userspace/attach/unwind_tables.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "userspace/base/unique_fd.h"

namespace hawk {
namespace {

/// Code that a test has mapped, and the test's own process as ModuleMap sees it.
class OwnCode : public ::testing::Test {
 protected:
  ~OwnCode() override {
    if (mapped_ != MAP_FAILED) ::munmap(mapped_, kPage);
  }

  static constexpr std::size_t kPage = 4096;

  /// Maps one executable page; returns where.
  std::uint64_t map_page(int fd, std::uint64_t file_offset, int flags) {
    mapped_ = ::mmap(nullptr, kPage, PROT_READ | PROT_EXEC, flags, fd, static_cast<off_t>(file_offset));
    EXPECT_NE(mapped_, MAP_FAILED);
    return reinterpret_cast<std::uint64_t>(mapped_);
  }

  void take_mappings() {
    const Result<std::vector<Mapping>> own = read_mappings(::getpid());
    ASSERT_TRUE(own);
    mappings_ = *own;
    for (const Mapping& mapping : mappings_) modules_.add(mapping);
    tables_.resize(modules_.module_count());
    for (std::size_t i = 0; i < tables_.size(); ++i) {
      tables_[i] = {.base_vaddr = 0x100 * i, .first_row = static_cast<std::uint32_t>(1000 * i), .row_count = 7};
    }
  }

  const Mapping* mapping_at(std::uint64_t address) const {
    for (const Mapping& mapping : mappings_) {
      if (mapping.start <= address && address < mapping.end) return &mapping;
    }
    return nullptr;
  }

  const hawk_code_range* range_at(const std::vector<hawk_code_range>& ranges, std::uint64_t address) const {
    for (const hawk_code_range& range : ranges) {
      if (range.start <= address && address < range.end) return &range;
    }
    return nullptr;
  }

  ModuleMap modules_{::getpid()};
  std::vector<Mapping> mappings_;
  std::vector<StoredTable> tables_;
  void* mapped_ = MAP_FAILED;
};

const std::uint64_t kHere = reinterpret_cast<std::uint64_t>(&read_mappings);

TEST_F(OwnCode, EveryFileIsToldWithItsRowsAsTheKernelKnowsIt) {
  take_mappings();
  const std::vector<hawk_code_range> ranges = code_ranges_of(modules_, tables_);
  std::size_t expected = 0;
  for (const Mapping& mapping : mappings_) {
    if (!mapping.executable || (mapping.inode == 0 && mapping.path != "[vdso]")) continue;
    ++expected;
    const hawk_code_range* range = range_at(ranges, mapping.start);
    ASSERT_NE(range, nullptr) << mapping.path;
    EXPECT_EQ(range->start, mapping.start);
    EXPECT_EQ(range->end, mapping.end);
    EXPECT_EQ(range->inode, mapping.inode);
    EXPECT_EQ(range->file_offset, mapping.file_offset);
    EXPECT_EQ(range->device, (mapping.device >> 32) << 20 | (mapping.device & 0xfffff));
    EXPECT_EQ(range->row_count, 7u) << mapping.path;
  }
  EXPECT_EQ(ranges.size(), expected);
  EXPECT_TRUE(std::is_sorted(ranges.begin(), ranges.end(), [](const hawk_code_range& a, const hawk_code_range& b) {
    return a.end <= b.start && a.start < b.start;
  }));
}

TEST_F(OwnCode, OffsetsCountFromTheFirstAddressOfTheTable) {
  take_mappings();
  const std::vector<hawk_code_range> ranges = code_ranges_of(modules_, tables_);
  std::size_t compared = 0;
  for (const hawk_code_range& range : ranges) {
    const std::optional<ModuleAddress> place = modules_.resolve(range.start + 5);
    ASSERT_TRUE(place);
    const StoredTable& table = tables_[static_cast<std::size_t>(place->module)];
    EXPECT_EQ(range.start + 5 - range.base, place->vaddr - table.base_vaddr);
    EXPECT_EQ(range.first_row, table.first_row);
    ++compared;
  }
  EXPECT_GE(compared, 3u);  // this program, libc, the vdso
}

TEST_F(OwnCode, AFileThatIsMappedTwiceHasTheSameRowsAtBothPlaces) {
  UniqueFd self(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  const Result<std::vector<Mapping>> before = read_mappings(::getpid());
  ASSERT_TRUE(before);
  mappings_ = *before;
  const Mapping* here = mapping_at(kHere);
  ASSERT_NE(here, nullptr);
  const std::uint64_t again = map_page(self.get(), here->file_offset, MAP_PRIVATE);
  const std::uint64_t start = here->start;
  take_mappings();
  const std::vector<hawk_code_range> ranges = code_ranges_of(modules_, tables_);
  const hawk_code_range* first = range_at(ranges, start);
  const hawk_code_range* second = range_at(ranges, again);
  ASSERT_TRUE(first != nullptr && second != nullptr);
  EXPECT_EQ(first->first_row, second->first_row);
  EXPECT_EQ(first->row_count, second->row_count);
  EXPECT_EQ(start - first->base, again - second->base);
}

TEST_F(OwnCode, AMappingThatReachesBeyondTheCodeEndsWithTheCode) {
  take_mappings();
  Mapping whole = *mapping_at(kHere);
  const std::uint64_t end = whole.end;
  whole.end += 16 * kPage;
  modules_.add(whole);
  const std::vector<hawk_code_range> ranges = code_ranges_of(modules_, tables_);
  const hawk_code_range* range = range_at(ranges, kHere);
  ASSERT_NE(range, nullptr);
  EXPECT_EQ(range->end, end);
  EXPECT_EQ(range->row_count, 7u);
}

TEST_F(OwnCode, TheKernelFindsTheSameRowsByTheFileAsByTheRange) {
  take_mappings();
  const std::vector<hawk_code_range> ranges = code_ranges_of(modules_, tables_);
  const hawk_code_range* range = range_at(ranges, kHere);
  ASSERT_NE(range, nullptr);
  const std::size_t here = static_cast<std::size_t>(modules_.resolve(kHere)->module);
  const std::uint64_t file_offset = kHere - range->start + range->file_offset;
  std::size_t found = 0;
  for (const FilePart& known : file_parts_of(modules_.module(ModuleId(here)), tables_[here])) {
    if (known.part.inode != range->inode || known.part.device != range->device) continue;
    if (file_offset < known.code.start || file_offset >= known.code.end) continue;
    ++found;
    EXPECT_EQ(file_offset - known.code.base, kHere - range->base);
    EXPECT_EQ(known.code.first_row, range->first_row);
    EXPECT_EQ(known.code.row_count, range->row_count);
  }
  EXPECT_EQ(found, 1u);
}

TEST_F(OwnCode, CodeOfNoFileIsNotTold) {
  const std::uint64_t anonymous = map_page(-1, 0, MAP_PRIVATE | MAP_ANONYMOUS);
  take_mappings();
  ASSERT_NE(mapping_at(anonymous), nullptr);
  EXPECT_EQ(range_at(code_ranges_of(modules_, tables_), anonymous), nullptr);
}

TEST_F(OwnCode, CodeOfAFileThatIsNotElfIsNotTold) {
  char name[] = "/tmp/hawktrace-test-XXXXXX";
  UniqueFd file(::mkstemp(name));
  ASSERT_TRUE(file);
  ::unlink(name);
  ASSERT_EQ(::ftruncate(file.get(), kPage), 0);
  const std::uint64_t code = map_page(file.get(), 0, MAP_PRIVATE);
  take_mappings();
  ASSERT_TRUE(modules_.resolve(code));
  EXPECT_EQ(range_at(code_ranges_of(modules_, tables_), code), nullptr);
}

TEST_F(OwnCode, AModuleWhoseTableIsNotReadYetHasNoRows) {
  take_mappings();
  const std::vector<hawk_code_range> ranges = code_ranges_of(modules_, {});
  EXPECT_EQ(ranges.size(), code_ranges_of(modules_, tables_).size());
  for (const hawk_code_range& range : ranges) EXPECT_EQ(range.row_count, 0u);
}

TEST_F(OwnCode, CodeOfUnclearPlaceHasNoRows) {
  UniqueFd self(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  const std::uint64_t headers = map_page(self.get(), 0, MAP_PRIVATE);  // a segment that is not executable
  take_mappings();
  const hawk_code_range* range = nullptr;
  const std::vector<hawk_code_range> ranges = code_ranges_of(modules_, tables_);
  range = range_at(ranges, headers);
  ASSERT_NE(range, nullptr);
  EXPECT_EQ(range->row_count, 0u);
  EXPECT_EQ(range_at(ranges, kHere)->row_count, 7u);
}

TEST_F(OwnCode, WhereThereAreTooManyThoseWithoutRowsAreLeftOutFirst) {
  take_mappings();
  const ModuleId here = modules_.resolve(kHere)->module;
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    if (i != static_cast<std::size_t>(here)) tables_[i].row_count = 0;
  }
  const std::size_t all = code_ranges_of(modules_, tables_).size();
  ASSERT_GE(all, 3u);
  EXPECT_EQ(code_ranges_of(modules_, tables_, all).size(), all);
  const std::vector<hawk_code_range> fewer = code_ranges_of(modules_, tables_, all - 1);
  ASSERT_EQ(fewer.size(), 1u);
  EXPECT_LE(fewer.front().start, kHere);
  EXPECT_GT(fewer.front().end, kHere);
  EXPECT_TRUE(code_ranges_of(modules_, tables_, 0).empty());
}

}  // namespace
}  // namespace hawk
