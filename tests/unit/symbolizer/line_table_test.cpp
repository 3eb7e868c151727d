#include "symbolizer/line_table.h"

#include <dwarf.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "symbolizer/unit_reader.h"

namespace hawk {
namespace {

using Storage = std::vector<std::uint8_t>;

void append(Storage& to, std::uint64_t value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) to.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}

void append(Storage& to, const std::string& text) {
  to.insert(to.end(), text.begin(), text.end());
  to.push_back(0);
}

/// A unit of DWARF 4 that has nothing but a directory and a line program, with file 1 in the unit's directory, file 2
/// in a relative and file 3 in an absolute one.
class LineProgram {
 public:
  explicit LineProgram(const std::string& directory, const Storage& operations) {
    abbrev_ = {1, DW_TAG_compile_unit, 0, DW_AT_comp_dir, DW_FORM_string, DW_AT_stmt_list, DW_FORM_sec_offset, 0, 0, 0};
    Storage entry{1};
    append(entry, directory);
    append(entry, 0, 4);
    append(info_, 7 + entry.size(), 4);
    append(info_, 4, 2);
    append(info_, 0, 4);
    info_.push_back(8);
    info_.insert(info_.end(), entry.begin(), entry.end());

    // Minimum length 1, 1 operation, is_stmt, line base -5, range 14, opcodes up to 12 with their operands.
    Storage header{1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
    append(header, "sub");
    append(header, "/abs");
    header.push_back(0);
    for (const auto& [name, number] : {std::pair{"a.c", 0}, std::pair{"b.c", 1}, std::pair{"c.c", 2}}) {
      append(header, name);
      append(header, static_cast<std::uint64_t>(number), 1);
      append(header, 0, 2);
    }
    header.push_back(0);
    append(line_, 6 + header.size() + operations.size(), 4);
    append(line_, 4, 2);
    append(line_, header.size(), 4);
    line_.insert(line_.end(), header.begin(), header.end());
    line_.insert(line_.end(), operations.begin(), operations.end());
  }

  LineTable table() {
    sections_.abbrev = abbrev_;
    sections_.line = line_;
    info_section_.emplace(Bytes(info_));
    const std::optional<UnitHeader> header = UnitHeader::at(*info_section_, 0);
    EXPECT_TRUE(header.has_value());
    reader_.emplace(sections_, *info_section_, header.value_or(UnitHeader{}));
    return LineTable(*reader_);
  }

  Storage line_;

 private:
  Storage abbrev_;
  Storage info_;
  DebugSections sections_;
  std::optional<InfoSection> info_section_;
  std::optional<UnitReader> reader_;
};

Storage set_address(std::uint64_t address) {
  Storage operation{0, 9, DW_LNE_set_address};
  append(operation, address, 8);
  return operation;
}

Storage joined(const std::vector<Storage>& parts) {
  Storage whole;
  for (const Storage& part : parts) whole.insert(whole.end(), part.begin(), part.end());
  return whole;
}

Storage advance(std::uint8_t bytes, std::uint8_t lines) {
  return {DW_LNS_advance_pc, bytes, DW_LNS_advance_line, lines, DW_LNS_copy};
}

const Storage kEnd{0, 1, DW_LNE_end_sequence};
const Storage kForward{DW_LNS_advance_pc, 8};

TEST(line_table, gives_each_address_the_last_row_before_it) {
  // Line 3 at 0x1000, 5 at 0x1004, also 6 at 0x1004, end at 0x100c.
  LineProgram program("/src",
                      joined({set_address(0x1000), advance(0, 2), advance(4, 2), advance(0, 1), kForward, kEnd}));
  LineTable table = program.table();
  EXPECT_FALSE(table.find(0xfff).is_known);
  EXPECT_EQ(table.find(0x1000).line, 3u);
  EXPECT_EQ(table.find(0x1003).line, 3u);
  EXPECT_EQ(table.find(0x1004).line, 6u);  // the later row for the same address counts
  EXPECT_EQ(table.find(0x100b).line, 6u);
  EXPECT_FALSE(table.find(0x100c).is_known);
}

TEST(line_table, understands_special_opcodes) {
  // 13 + (advance 1 * 14) + (line +1 - base -5 = 6) = 33
  LineProgram program("/src", joined({set_address(0x1000), {DW_LNS_copy, 33, 33, DW_LNS_const_add_pc}, kEnd}));
  LineTable table = program.table();
  EXPECT_EQ(table.find(0x1000).line, 1u);
  EXPECT_EQ(table.find(0x1001).line, 2u);
  EXPECT_EQ(table.find(0x1002).line, 3u);
  EXPECT_TRUE(table.find(0x1002 + 16).is_known);  // const_add_pc: (255 - 13) / 14 = 17
  EXPECT_FALSE(table.find(0x1002 + 17).is_known);
}

TEST(line_table, keeps_sequences_apart_whatever_their_order) {
  LineProgram program("/src", joined({set_address(0x2000),
                                      advance(0, 1),
                                      kForward,
                                      kEnd,
                                      set_address(0x1000),
                                      {DW_LNS_set_file, 2},
                                      advance(0, 8),
                                      kForward,
                                      kEnd}));
  LineTable table = program.table();
  EXPECT_EQ(table.find(0x2001).line, 2u);
  EXPECT_EQ(table.find(0x2001).file, 1u);
  EXPECT_EQ(table.find(0x1001).line, 9u);
  EXPECT_EQ(table.find(0x1001).file, 2u);
  EXPECT_FALSE(table.find(0x1800).is_known);
}

TEST(line_table, tells_the_same_line_of_two_files_apart) {
  LineProgram program(
      "/src", joined({set_address(0x1000), advance(0, 2), {DW_LNS_set_file, 2}, advance(4, 0), kForward, kEnd}));
  LineTable table = program.table();
  EXPECT_EQ(table.find(0x1003).file, 1u);
  EXPECT_EQ(table.find(0x1004).file, 2u);
  EXPECT_EQ(table.find(0x1004).line, 3u);
}

TEST(line_table, sorts_rows_that_go_back) {
  LineProgram program("/src", joined({set_address(0x1010), advance(0, 1), set_address(0x1000), advance(0, 1),
                                      set_address(0x1020), kEnd}));
  LineTable table = program.table();
  EXPECT_EQ(table.find(0x1000).line, 3u);
  EXPECT_EQ(table.find(0x1010).line, 2u);
}

TEST(line_table, joins_paths_with_their_directories) {
  LineProgram program("/src", kEnd);
  const LineTable table = program.table();
  EXPECT_EQ(table.file_path(0), "");
  EXPECT_EQ(table.file_path(1), "/src/a.c");
  EXPECT_EQ(table.file_path(2), "/src/sub/b.c");
  EXPECT_EQ(table.file_path(3), "/abs/c.c");
  EXPECT_EQ(table.file_path(4), "");
  EXPECT_EQ(table.file_path(UINT64_MAX), "");
}

TEST(line_table, leaves_paths_alone_whose_unit_has_a_relative_directory) {
  LineProgram program("make/part", kEnd);
  EXPECT_EQ(program.table().file_path(2), "sub/b.c");
}

TEST(line_table, of_a_damaged_header_is_empty) {
  const Storage operations = joined({set_address(0x1000), advance(0, 2), kForward, kEnd});
  LineProgram sound("/src", operations);
  EXPECT_TRUE(sound.table().find(0x1000).is_known);
  for (const std::size_t byte : {0u, 4u, 6u, 7u, 8u, 9u}) {  // length, version, header length
    LineProgram damaged("/src", operations);
    damaged.line_[byte] = 0xee;
    LineTable table = damaged.table();
    EXPECT_FALSE(table.find(0x1000).is_known) << byte;
  }
  LineProgram no_range("/src", operations);
  no_range.line_[14] = 0;  // a special opcode would divide by it
  EXPECT_FALSE(no_range.table().find(0x1000).is_known);
}

}  // namespace
}  // namespace hawk
