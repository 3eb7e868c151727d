#include "userspace/unwinding/outermost.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace hawk {
namespace {

using Pair = std::pair<std::uint32_t, std::uint32_t>;
constexpr std::uint32_t kRule = HAWK_FIRST_RULE, kOther = HAWK_FIRST_RULE + 1;

UnwindTable table_with(const std::vector<Pair>& rows) {
  UnwindTable table;
  table.base_vaddr = 0x1000;
  for (const auto& [offset, rule] : rows) table.rows.push_back({.offset = offset, .rule = rule});
  return table;
}

std::vector<Pair> rows_of(const UnwindTable& table) {
  std::vector<Pair> rows;
  for (const hawk_row& row : table.rows) rows.emplace_back(row.offset, row.rule);
  return rows;
}

TEST(EntryPoint, EndsWhereTheTableSaysNothing) {
  UnwindTable table = table_with({{0, kRule}, {0x10, HAWK_RULE_GAP}, {0x80, kOther}});
  end_at_entry_point(table, 0x1040);
  EXPECT_EQ(rows_of(table),
            (std::vector<Pair>{{0, kRule}, {0x10, HAWK_RULE_GAP}, {0x40, HAWK_RULE_END}, {0x80, kOther}}));
}

TEST(EntryPoint, TakesTheWholeGapThatItBegins) {
  UnwindTable table = table_with({{0, kRule}, {0x10, HAWK_RULE_GAP}, {0x80, kOther}});
  end_at_entry_point(table, 0x1010);
  EXPECT_EQ(rows_of(table), (std::vector<Pair>{{0, kRule}, {0x10, HAWK_RULE_END}, {0x80, kOther}}));
}

TEST(EntryPoint, KeepsWhatTheTableSays) {
  const std::vector<Pair> rows = {{0, kRule}, {0x10, HAWK_RULE_GAP}, {0x80, kOther}};
  for (const std::uint64_t entry : {0x0u, 0xfffu, 0x1008u, 0x1080u}) {
    UnwindTable table = table_with(rows);
    end_at_entry_point(table, entry);
    EXPECT_EQ(rows_of(table), rows) << entry;
  }
}

TEST(EntryPoint, IsNotTheRestOfTheFile) {
  const std::vector<Pair> rows = {{0, kRule}, {0x10, HAWK_RULE_GAP}};
  UnwindTable table = table_with(rows);
  end_at_entry_point(table, 0x1020);
  EXPECT_EQ(rows_of(table), rows);
}

TEST(EntryPoint, OfNoTable) {
  UnwindTable table;
  end_at_entry_point(table, 0x1020);
  EXPECT_TRUE(table.rows.empty());
}

TEST(FunctionStart, EndsAtTheByteBefore) {
  UnwindTable table = table_with({{0, kRule}, {0x40, kOther}});
  end_at_start_of(table, 0x1040);
  EXPECT_EQ(rows_of(table), (std::vector<Pair>{{0, kRule}, {0x3f, HAWK_RULE_END}, {0x40, kOther}}));
}

TEST(FunctionStart, InTheMiddleOfARow) {
  UnwindTable table = table_with({{0, kRule}, {0x80, kOther}});
  end_at_start_of(table, 0x1040);
  EXPECT_EQ(rows_of(table), (std::vector<Pair>{{0, kRule}, {0x3f, HAWK_RULE_END}, {0x40, kRule}, {0x80, kOther}}));
}

TEST(FunctionStart, BeforeTheTable) {
  const std::vector<Pair> rows = {{0, kRule}};
  UnwindTable table = table_with(rows);
  end_at_start_of(table, 0x1000);
  end_at_start_of(table, 0);
  EXPECT_EQ(rows_of(table), rows);
}

}  // namespace
}  // namespace hawk
