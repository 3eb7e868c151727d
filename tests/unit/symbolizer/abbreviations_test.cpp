#include "symbolizer/abbreviations.h"

#include <dwarf.h>
#include <gtest/gtest.h>

#include <vector>

namespace hawk {
namespace {

using Storage = std::vector<std::uint8_t>;

constexpr Encoding kEncoding{.version = 5, .address_bytes = 8, .offset_bytes = 4};

TEST(abbreviations, melt_unwanted_attributes_into_one_skip) {
  const Storage bytes{1,
                      DW_TAG_variable,
                      0,
                      DW_AT_decl_line,
                      DW_FORM_data1,
                      DW_AT_type,
                      DW_FORM_ref4,
                      DW_AT_low_pc,
                      DW_FORM_addr,
                      DW_AT_decl_file,
                      DW_FORM_udata,
                      0,
                      0,
                      0};
  const Abbreviations table(bytes, kEncoding);
  const Abbreviation* variable = table.find(1);
  ASSERT_NE(variable, nullptr);
  EXPECT_EQ(variable->tag, DW_TAG_variable);
  EXPECT_FALSE(variable->has_children);
  ASSERT_EQ(variable->step_count, 3u);
  const Abbreviation::Step* steps = table.steps(*variable);
  EXPECT_EQ(steps[0].form, 0u);
  EXPECT_EQ(steps[0].constant, 5);
  EXPECT_EQ(steps[1].slot, Slot::kLowPc);
  EXPECT_EQ(steps[2].slot, Slot::kCount);
  EXPECT_EQ(steps[2].form, DW_FORM_udata);
}

TEST(abbreviations, never_melt_across_two_entries) {
  const Storage bytes{1, DW_TAG_variable, 0, DW_AT_decl_line, DW_FORM_data1, 0, 0,
                      2, DW_TAG_variable, 1, DW_AT_decl_line, DW_FORM_data2, 0, 0,
                      0};
  const Abbreviations table(bytes, kEncoding);
  ASSERT_NE(table.find(2), nullptr);
  EXPECT_EQ(table.steps(*table.find(1))[0].constant, 1);
  EXPECT_EQ(table.steps(*table.find(2))[0].constant, 2);
  EXPECT_TRUE(table.find(2)->has_children);
}

TEST(abbreviations, may_be_numbered_in_any_way) {
  const Storage bytes{9, DW_TAG_variable, 0, 0, 0, 1, DW_TAG_namespace, 0, 0, 0, 0};
  const Abbreviations table(bytes, kEncoding);
  ASSERT_NE(table.find(9), nullptr);
  EXPECT_EQ(table.find(9)->tag, DW_TAG_variable);
  EXPECT_EQ(table.find(1)->tag, DW_TAG_namespace);
  EXPECT_EQ(table.find(0), nullptr);
  EXPECT_EQ(table.find(2), nullptr);
}

/// Found by fuzzing: there is no first step to point at.
TEST(abbreviations, may_have_no_attributes_at_all) {
  const Storage bytes{1, DW_TAG_namespace, 0, 0, 0, 0};
  const Abbreviations table(bytes, kEncoding);
  ASSERT_NE(table.find(1), nullptr);
  EXPECT_EQ(table.find(1)->step_count, 0u);
  table.steps(*table.find(1));
}

TEST(abbreviations, end_where_they_are_cut_off) {
  const Storage bytes{1, DW_TAG_namespace, 0, 0, 0, 2, DW_TAG_variable, 0, DW_AT_name};
  for (std::size_t size = 0; size <= bytes.size(); ++size) {
    const Abbreviations table(part_of(bytes, 0, size), kEncoding);
    EXPECT_EQ(table.find(1) != nullptr, size >= 5);
    EXPECT_EQ(table.find(2), nullptr);
  }
}

}  // namespace
}  // namespace hawk
