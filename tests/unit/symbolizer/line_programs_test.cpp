// Line programs written by hand, read through the whole symbolizer.
#include <dwarf.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "debug_image.h"
#include "symbolizer/libdw_symbolizer.h"

namespace hawk {
namespace {

/// A unit of DWARF 4 that has nothing but addresses, a directory and a line program, with file 1 in the unit's
/// directory, file 2 in a relative and file 3 in an absolute one.
class LineProgram {
 public:
  explicit LineProgram(const std::string& directory, const Storage& operations) {
    abbrev_ = {1,
               DW_TAG_compile_unit,
               0,
               DW_AT_comp_dir,
               DW_FORM_string,
               DW_AT_stmt_list,
               DW_FORM_sec_offset,
               DW_AT_low_pc,
               DW_FORM_addr,
               DW_AT_high_pc,
               DW_FORM_data4,
               0,
               0,
               0};
    Storage entry{1};
    append(entry, directory);
    append(entry, 0, 4);
    append(entry, 0x800, 8);
    append(entry, 0x4000, 4);
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

  /// The one frame that a unit without functions gives an address.
  SourceFrame find(std::uint64_t address) const {
    const std::unique_ptr<LibdwSymbolizer> symbolizer = LibdwSymbolizer::make();
    const std::string bytes = elf_file_of({{".debug_abbrev", abbrev_}, {".debug_info", info_}, {".debug_line", line_}});
    symbolizer->add_module(ModuleId{0}, {"/nowhere/program", deleted_file(bytes), "", false});
    const std::vector<SourceFrame> frames = symbolizer->frames(ModuleId{0}, address + 1);
    return frames.empty() ? SourceFrame{} : frames.at(0);
  }

  Storage line_;

 private:
  Storage abbrev_;
  Storage info_;
};

Storage set_address(std::uint64_t address) {
  Storage operation{0, 9, DW_LNE_set_address};
  append(operation, address, 8);
  return operation;
}

Storage advance(std::uint8_t bytes, std::uint8_t lines) {
  return {DW_LNS_advance_pc, bytes, DW_LNS_advance_line, lines, DW_LNS_copy};
}

const Storage kEnd{0, 1, DW_LNE_end_sequence};
const Storage kForward{DW_LNS_advance_pc, 8};

TEST(line_programs, give_each_address_the_last_row_before_it) {
  // Line 3 at 0x1000, 5 at 0x1004, also 6 at 0x1004, end at 0x100c.
  LineProgram program("/src",
                      joined({set_address(0x1000), advance(0, 2), advance(4, 2), advance(0, 1), kForward, kEnd}));
  EXPECT_EQ(program.find(0xfff).line, 0u);
  EXPECT_EQ(program.find(0x1000).line, 3u);
  EXPECT_EQ(program.find(0x1003).line, 3u);
  EXPECT_EQ(program.find(0x1004).line, 6u);  // the later row for the same address counts
  EXPECT_EQ(program.find(0x100b).line, 6u);
  EXPECT_EQ(program.find(0x100c).line, 0u);
}

TEST(line_programs, may_have_special_opcodes) {
  // 13 + (advance 1 * 14) + (line +1 - base -5 = 6) = 33
  LineProgram program("/src", joined({set_address(0x1000), {DW_LNS_copy, 33, 33, DW_LNS_const_add_pc}, kEnd}));
  EXPECT_EQ(program.find(0x1000).line, 1u);
  EXPECT_EQ(program.find(0x1001).line, 2u);
  EXPECT_EQ(program.find(0x1002).line, 3u);
  EXPECT_NE(program.find(0x1002 + 16).line, 0u);  // const_add_pc: (255 - 13) / 14 = 17
  EXPECT_EQ(program.find(0x1002 + 17).line, 0u);
}

TEST(line_programs, have_sequences_in_any_order) {
  LineProgram program("/src", joined({set_address(0x2000),
                                      advance(0, 1),
                                      kForward,
                                      kEnd,
                                      set_address(0x1000),
                                      {DW_LNS_set_file, 2},
                                      advance(0, 8),
                                      kForward,
                                      kEnd}));
  EXPECT_EQ(program.find(0x2001).line, 2u);
  EXPECT_EQ(program.find(0x2001).file, "/src/a.c");
  EXPECT_EQ(program.find(0x1001).line, 9u);
  EXPECT_EQ(program.find(0x1001).file, "/src/sub/b.c");
  EXPECT_EQ(program.find(0x1800).line, 0u);
}

TEST(line_programs, tell_the_same_line_of_two_files_apart) {
  LineProgram program(
      "/src", joined({set_address(0x1000), advance(0, 2), {DW_LNS_set_file, 2}, advance(4, 0), kForward, kEnd}));
  EXPECT_EQ(program.find(0x1003).file, "/src/a.c");
  EXPECT_EQ(program.find(0x1004).file, "/src/sub/b.c");
  EXPECT_EQ(program.find(0x1004).line, 3u);
}

TEST(line_programs, may_go_back) {
  LineProgram program("/src", joined({set_address(0x1010), advance(0, 1), set_address(0x1000), advance(0, 1),
                                      set_address(0x1020), kEnd}));
  EXPECT_EQ(program.find(0x1000).line, 3u);
  EXPECT_EQ(program.find(0x1010).line, 2u);
}

/// The path of file `number` where the compiler ran in `directory`.
std::string path_of(std::uint8_t number, const std::string& directory) {
  const LineProgram program(directory,
                            joined({set_address(0x1000), {DW_LNS_set_file, number}, advance(0, 1), kForward, kEnd}));
  return program.find(0x1000).file;
}

TEST(line_programs, join_paths_with_their_directories) {
  EXPECT_EQ(path_of(0, "/src"), "");
  EXPECT_EQ(path_of(1, "/src"), "/src/a.c");
  EXPECT_EQ(path_of(2, "/src"), "/src/sub/b.c");
  EXPECT_EQ(path_of(3, "/src"), "/abs/c.c");
  EXPECT_EQ(path_of(4, "/src"), "");
}

TEST(line_programs, leave_paths_alone_whose_unit_has_a_relative_directory) {
  EXPECT_EQ(path_of(2, "make/part"), "sub/b.c");
}

TEST(line_programs, of_a_damaged_header_tell_nothing) {
  const Storage operations = joined({set_address(0x1000), advance(0, 2), kForward, kEnd});
  EXPECT_NE(LineProgram("/src", operations).find(0x1000).line, 0u);
  for (const std::size_t byte : {0u, 4u, 6u, 7u, 8u, 9u}) {  // length, version, header length
    LineProgram damaged("/src", operations);
    damaged.line_[byte] = 0xee;
    EXPECT_EQ(damaged.find(0x1000).line, 0u) << byte;
  }
  LineProgram no_range("/src", joined({set_address(0x1000), {33, 33}, kForward, kEnd}));
  EXPECT_NE(no_range.find(0x1001).line, 0u);
  no_range.line_[14] = 0;  // a special opcode would divide by it
  EXPECT_EQ(no_range.find(0x1001).line, 0u);
}

}  // namespace
}  // namespace hawk
