#include <elf.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "tests/support/small_elf.h"
#include "userspace/attach/unwind_tables.h"

namespace hawk {
namespace {

const StoredTable kTable = {.base_vaddr = 0x1000, .first_row = 500, .row_count = 70};

using testing::code_segment;

/// As a file that is mapped as file 77 of device 8:1, and is file 1234 of device 0:30 to stat.
MappedModule make_module(const std::vector<Elf64_Phdr>& segments) {
  MappedModule module;
  module.device = std::uint64_t{8} << 32 | 1;
  module.inode = 77;
  module.file.file = {.device = ::makedev(0, 30), .inode = 1234};
  Result<ElfLayout> image = ElfLayout::make(testing::small_elf(segments), "a test's file");
  EXPECT_TRUE(image);
  if (image) module.image = std::make_shared<ElfLayout>(std::move(*image));
  return module;
}

TEST(FileParts, ASegmentHasRowsByItsOffsetsInTheFile) {
  const MappedModule module = make_module({code_segment(0x2000, 0x5000, 0x1234)});
  const std::vector<FilePart> parts = file_parts_of(module, kTable);
  ASSERT_FALSE(parts.empty());
  const hawk_code_range& code = parts[0].code;
  EXPECT_EQ(code.start, 0x2000u);
  EXPECT_EQ(code.end, 0x3234u);
  EXPECT_EQ(0x2010 - code.base, 0x5010 - kTable.base_vaddr);
  EXPECT_EQ(code.first_row, kTable.first_row);
  EXPECT_EQ(code.row_count, kTable.row_count);
}

TEST(FileParts, EverySegmentHasItsOwnDistanceAndNumber) {
  const MappedModule module =
      make_module({code_segment(0x2000, 0x5000, 0x1000), code_segment(0x3000, 0x400000, 0x800)});
  const std::vector<FilePart> parts = file_parts_of(module, kTable);
  ASSERT_GE(parts.size(), 2u);
  EXPECT_EQ(parts[0].part.number, 0u);
  EXPECT_EQ(parts[1].part.number, 1u);
  EXPECT_EQ(0x2010 - parts[0].code.base, 0x5010 - kTable.base_vaddr);
  EXPECT_EQ(0x3010 - parts[1].code.base, 0x400010 - kTable.base_vaddr);
}

TEST(FileParts, AFileIsKnownByBothItsNames) {
  const std::vector<FilePart> parts = file_parts_of(make_module({code_segment(0, 0, 0x1000)}), kTable);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].part.inode, 77u);
  EXPECT_EQ(parts[0].part.device, 8u << 20 | 1);
  EXPECT_EQ(parts[1].part.inode, 1234u);
  EXPECT_EQ(parts[1].part.device, 30u);
}

TEST(FileParts, AFileThatIsNotMappedYetIsKnownAsStatTells) {
  MappedModule module = make_module({code_segment(0, 0, 0x1000)});
  module.device = module.inode = 0;
  const std::vector<FilePart> parts = file_parts_of(module, kTable);
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].part.inode, 1234u);
}

TEST(FileParts, OneNameIsToldOnce) {
  MappedModule module = make_module({code_segment(0, 0, 0x1000)});
  module.file.file = {.device = ::makedev(8, 1), .inode = 77};
  EXPECT_EQ(file_parts_of(module, kTable).size(), 1u);
}

TEST(FileParts, WithoutRowsThereIsNothingToTell) {
  EXPECT_TRUE(file_parts_of(make_module({code_segment(0, 0, 0x1000)}), {}).empty());
}

TEST(FileParts, AFileThatIsNotElfHasNoRowsAnywhere) {
  MappedModule module = make_module({code_segment(0, 0, 0x1000)});
  module.image.reset();
  const std::vector<FilePart> parts = file_parts_of(module, {});
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].part.inode, 77u);
  EXPECT_EQ(parts[0].code.start, 0u);
  EXPECT_GE(parts[0].code.end, 1u << 30);
  EXPECT_EQ(parts[0].code.row_count, 0u);
}

TEST(FileParts, TheVdsoIsNoFile) {
  MappedModule module;
  module.is_vdso = true;
  EXPECT_TRUE(file_parts_of(module, kTable).empty());
}

TEST(FileParts, AFileThatHasBeenClosedMayBecomeAnother) {
  MappedModule module = make_module({code_segment(0, 0, 0x1000)});
  module.image = std::make_shared<const ElfLayout>(module.image->without_file());
  EXPECT_TRUE(file_parts_of(module, kTable).empty());
}

TEST(FileParts, BytesOfTwoSegmentsAreOfUnclearPlace) {
  EXPECT_TRUE(
      file_parts_of(make_module({code_segment(0, 0, 0x1001), code_segment(0x1000, 0x9000, 0x1000)}), kTable).empty());
}

TEST(FileParts, AFileOfTooManySegmentsIsNotTold) {
  std::vector<Elf64_Phdr> segments;
  for (std::uint64_t i = 0; i < HAWK_MAX_FILE_PARTS; ++i) {
    segments.push_back(code_segment(0x1000 * i, 0x2000 * i, 0x1000));
  }
  EXPECT_FALSE(file_parts_of(make_module(segments), kTable).empty());
  segments.push_back(code_segment(0xf000, 0x20000, 0x1000));
  EXPECT_TRUE(file_parts_of(make_module(segments), kTable).empty());
}

}  // namespace
}  // namespace hawk
