#include "symbolizer/unit_reader.h"

#include <dwarf.h>
#include <gtest/gtest.h>

#include <vector>

#include "symbolizer/dwarf_unit.h"

namespace hawk {
namespace {

using Storage = std::vector<std::uint8_t>;

/// A DWARF 4 unit with a class that has two members and says where its sibling is, and a function behind it.
class SmallUnit : public ::testing::Test {
 protected:
  static constexpr std::uint8_t kClass = 12;
  static constexpr std::uint8_t kFunction = 20;

  SmallUnit() {
    abbrev_ = {1,
               DW_TAG_compile_unit,
               1,
               0,
               0,
               2,
               DW_TAG_class_type,
               1,
               DW_AT_sibling,
               DW_FORM_ref4,
               0,
               0,
               3,
               DW_TAG_member,
               0,
               0,
               0,
               4,
               DW_TAG_subprogram,
               0,
               DW_AT_low_pc,
               DW_FORM_addr,
               DW_AT_high_pc,
               DW_FORM_data1,
               0,
               0,
               0};
    info_ = {0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8, 1, 2, kFunction, 0, 0, 0, 3, 3, 0};
    const Storage function{4, 0, 0x10, 0, 0, 0, 0, 0, 0, 8, 0};
    info_.insert(info_.end(), function.begin(), function.end());
    info_[0] = static_cast<std::uint8_t>(info_.size() - 4);
    sections_.abbrev = abbrev_;
  }

  Storage abbrev_;
  Storage info_;
  DebugSections sections_;
};

TEST_F(SmallUnit, is_read_entry_by_entry) {
  InfoSection info{Bytes(info_)};
  const UnitReader unit(sections_, info, UnitHeader::at(info, 0).value());
  EXPECT_EQ(unit.own_entry().tag, DW_TAG_compile_unit);
  Entry entry;
  ASSERT_TRUE(unit.read(kClass, entry));
  EXPECT_EQ(entry.tag, DW_TAG_class_type);
  EXPECT_EQ(unit.after(entry), kFunction);
  ASSERT_TRUE(unit.read(kFunction, entry));
  EXPECT_EQ(unit.address(entry, Slot::kLowPc), 0x1000u);
  EXPECT_FALSE(unit.read(info_.size(), entry));
}

/// Whatever a sibling reference says, a walk goes forward, or it would never end.
TEST_F(SmallUnit, is_left_forward_when_a_sibling_lies_behind) {
  for (const std::uint8_t sibling : {std::uint8_t{0}, std::uint8_t{11}, kClass, std::uint8_t{200}}) {
    info_[kClass + 1] = sibling;
    InfoSection info{Bytes(info_)};
    DwarfUnit unit(sections_, info, UnitHeader::at(info, 0).value());
    Entry entry;
    ASSERT_TRUE(unit.reader().read(kClass, entry));
    EXPECT_EQ(unit.reader().after(entry), kFunction);
    EXPECT_EQ(unit.chain_at(0x1004).size(), 1u);
    EXPECT_TRUE(unit.chain_at(0x1008).empty());
  }
}

TEST_F(SmallUnit, that_is_cut_off_has_no_header) {
  for (std::size_t size = 0; size < info_.size(); ++size) {
    InfoSection info{part_of(info_, 0, size)};
    EXPECT_FALSE(UnitHeader::at(info, 0).has_value()) << size;
  }
}

}  // namespace
}  // namespace hawk
