#include "userspace/study/file_messages.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace hawk {
namespace {

FileCode some_code() {
  FileCode code;
  code.is_dynamic_linker = true;
  code.allocator.is_library = true;
  AllocatorFunction function;
  function.names = {"cfree", "free"};
  function.kind = HAWK_CALL_FREE;
  function.entry_offset = 0x1000;
  function.probe_offset = 0x1004;
  function.instruction = "push";
  function.single_stepped = true;
  function.arguments = {1, 2, 3};
  function.frame = {.slot_words = 5, .saved_rbp_words = 4};
  function.return_offsets = {0x1010, 0x1020};
  function.return_points = {{0x1008, {0x401008, 4, 3, 5, std::nullopt}}, {0x100c, {0x40100c, std::nullopt, 0, 1, 0}}};
  function.may_throw = true;
  function.yields.points = {
      {.vaddr = 0x401008,
       .file_offset = 0x1008,
       .kind = PointKind::kYieldAfterSize,
       .single_stepped = true,
       .condition = 4,
       .result = {Operand::Kind::kRegister, 11},
       .size = {Operand::Kind::kStack, 40},
       .size_factor = {Operand::Kind::kConstant, 0},
       .slot_words = 50,
       .saved_rbp_words = 49,
       .inner = InnerCall{.words = 4, .saved_rbp_words = 2, .return_vaddr = 0x401100},
       .called_by = InnerCall{.words = 7, .saved_rbp_words = 3, .return_vaddr = 0x401200},
       .ahead = FreeList{
           .lists = 8, .list_shift = 5, .head = -16, .classes_vaddr = 0x403000, .size_added = 7, .size_shift = 3}}};
  function.yields.code = {{.file_offset = 0x1000, .bytes = 30}, {.file_offset = 0x2000, .bytes = 1}};
  function.yields.opens_at_entry = true;
  function.yields.relies_on = {0x1800, 0x1900};
  function.yields.goes_on = true;
  function.yields.fallback = "it jumps into a loop";
  code.allocator.functions = {function};
  function.kind = HAWK_CALL_UNFOLLOWED;
  code.allocator.unfollowed = {function, function};
  code.allocator.unprobed = {{"malloc", "its code could not be decoded"}};
  code.operator_frames = OperatorFrames{
      .call_sites = {{0x2000, 16, 8}, {0x2010, 24, std::nullopt}}, .init_vaddr = 0x3000, .init_offset = std::nullopt};
  return code;
}

TableHead some_head() {
  TableHead head;
  head.table.table.base_vaddr = 0x401000;
  head.table.table.unsupported = {{"CFA from rbx", 3}};
  hawk_rule rule = {};
  rule.kind = HAWK_RULE_PLAIN;
  rule.cfa_offset = 8;
  head.table.rules = {rule};
  head.table.rules_refused = 2;
  head.table.took = std::chrono::microseconds(5);
  head.row_count = 2;
  return head;
}

TEST(FileMessages, CodeSurvivesTheWay) {
  const FileCode sent = some_code();
  FileCode code;
  ASSERT_TRUE(from_body(to_body(sent), code));
  EXPECT_TRUE(code.is_dynamic_linker && !code.is_go && code.allocator.is_library);
  ASSERT_EQ(code.allocator.functions.size(), 1u);
  EXPECT_EQ(code.allocator.unfollowed.size(), 2u);
  const AllocatorFunction &there = code.allocator.functions[0], &here = sent.allocator.functions[0];
  EXPECT_EQ(there.names, here.names);
  EXPECT_EQ(there.kind, here.kind);
  EXPECT_EQ(there.entry_offset, here.entry_offset);
  EXPECT_EQ(there.probe_offset, here.probe_offset);
  EXPECT_EQ(there.instruction, here.instruction);
  EXPECT_EQ(there.single_stepped, here.single_stepped);
  EXPECT_EQ(there.arguments, here.arguments);
  EXPECT_EQ(there.frame, here.frame);
  EXPECT_EQ(there.return_offsets, here.return_offsets);
  EXPECT_EQ(there.may_throw, here.may_throw);
  EXPECT_EQ(there.yields, here.yields);
  ASSERT_EQ(there.return_points.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(there.return_points[i].file_offset, here.return_points[i].file_offset);
    EXPECT_EQ(there.return_points[i].point, here.return_points[i].point);
  }
  ASSERT_EQ(code.allocator.unprobed.size(), 1u);
  EXPECT_EQ(code.allocator.unprobed[0].reason, "its code could not be decoded");
  ASSERT_TRUE(code.operator_frames);
  EXPECT_EQ(code.operator_frames->call_sites, sent.operator_frames->call_sites);
  EXPECT_EQ(code.operator_frames->init_vaddr, 0x3000u);
  EXPECT_EQ(code.operator_frames->init_offset, std::nullopt);
}

TEST(FileMessages, TablesSurviveTheWay) {
  TableHead head;
  ASSERT_TRUE(from_body(to_body(some_head()), head));
  EXPECT_EQ(head.table.table.base_vaddr, 0x401000u);
  EXPECT_EQ(head.table.table.unsupported, some_head().table.table.unsupported);
  EXPECT_EQ(head.table.rules_refused, 2u);
  EXPECT_EQ(head.table.took, std::chrono::microseconds(5));
  EXPECT_EQ(head.row_count, 2u);
  ASSERT_EQ(head.table.rules.size(), 1u);
  EXPECT_EQ(std::memcmp(&head.table.rules[0], &some_head().table.rules[0], sizeof(hawk_rule)), 0);
  const hawk_row rows[] = {{.offset = 0, .rule = HAWK_FIRST_RULE}, {.offset = 7, .rule = HAWK_RULE_GAP}};
  ASSERT_TRUE(add_rows({reinterpret_cast<const char*>(rows), sizeof rows}, head.table));
  RuleSet rules;
  rules.number_of({.cfa_offset = 1000,
                   .fp_offset = 0,
                   .load_offset = 0,
                   .kind = HAWK_RULE_PLAIN,
                   .base = 0,
                   .fp_rule = 0,
                   .is_guess = 0});
  const UnwindTable table = std::move(head.table).numbered_by(rules);
  EXPECT_EQ(table.rows[0].rule, HAWK_FIRST_RULE + 1);
  EXPECT_EQ(table.rows[1].rule, std::uint32_t{HAWK_RULE_GAP});
  EXPECT_EQ(rules.refused(), 2u);
}

TEST(FileMessages, RowsMustAscendAndHaveRules) {
  const auto is_good = [](std::vector<hawk_row> rows) {
    FileTable table;
    return add_rows({reinterpret_cast<const char*>(rows.data()), rows.size() * sizeof(hawk_row)}, table);
  };
  EXPECT_TRUE(is_good({{.offset = 0, .rule = HAWK_RULE_GAP}}));
  EXPECT_FALSE(is_good({{.offset = 1, .rule = HAWK_RULE_GAP}}));
  EXPECT_FALSE(is_good({{.offset = 0, .rule = HAWK_FIRST_RULE}}));
  EXPECT_FALSE(is_good({{.offset = 0, .rule = HAWK_RULE_GAP}, {.offset = 0, .rule = HAWK_RULE_END}}));
  EXPECT_FALSE(is_good({}));
  FileTable table;
  EXPECT_FALSE(add_rows("123", table));
}

TEST(FileMessages, RulesMustBeOfTheLayout) {
  for (std::uint8_t hawk_rule::*const field :
       {&hawk_rule::kind, &hawk_rule::base, &hawk_rule::fp_rule, &hawk_rule::is_guess}) {
    TableHead head = some_head(), read;
    head.table.rules[0].*field = 0xff;
    EXPECT_FALSE(from_body(to_body(head), read));
  }
}

TEST(FileMessages, ReasonsArePlainText) {
  TableHead head = some_head(), read;
  head.table.table.unsupported["\x1b[31m"] = 1;
  EXPECT_FALSE(from_body(to_body(head), read));
  EXPECT_FALSE(is_plain_text(std::string(1000, 'x')));
}

TEST(FileMessages, WhatIsCutMakesNoSense) {
  const std::string code = to_body(some_code()), head = to_body(some_head());
  FileCode read_code;
  TableHead read_head;
  for (std::size_t bytes = 0; bytes < code.size(); ++bytes) {
    EXPECT_FALSE(from_body(code.substr(0, bytes), read_code = {})) << bytes;
  }
  for (std::size_t bytes = 0; bytes < head.size(); ++bytes) {
    EXPECT_FALSE(from_body(head.substr(0, bytes), read_head = {})) << bytes;
  }
}

TEST(FileMessages, EveryDamagedByteIsSurvived) {
  const std::string whole = to_body(some_code());
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const char byte : {'\0', '\x01', '\x7f', '\xff'}) {
      std::string damaged = whole;
      damaged[at] = byte;
      FileCode code;
      from_body(damaged, code);
      EXPECT_LE(code.allocator.functions.size(), whole.size());
    }
  }
}

}  // namespace
}  // namespace hawk
