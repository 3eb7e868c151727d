#include "symbolizer/entry_walk.h"

#include <dwarf.h>
#include <fcntl.h>
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "debug_image.h"
#include "oracle.h"
#include "symbolizer/dwarf_file.h"

namespace hawk {
namespace {

const std::uint8_t* end_of(const DwarfFile& file, std::uint32_t unit, const Dwarf_Die& own_entry) {
  const UnitSpan& span = file.units()[unit];
  return static_cast<const std::uint8_t*>(own_entry.addr) + (span.end - span.first_entry);
}

/// Every entry below `parent`, as libdw's own functions lead to it.
void collect(Dwarf_Die* parent, std::vector<const void*>& entries) {
  Dwarf_Die child;
  if (dwarf_child(parent, &child) != 0) return;
  do {
    entries.push_back(child.addr);
    collect(&child, entries);
  } while (dwarf_siblingof(&child, &child) == 0);
}

class Walked : public ::testing::TestWithParam<const char*> {};

TEST_P(Walked, entries_are_all_in_their_order) {
  const std::optional<ElfFile> elf = ElfFile::open(UniqueFd(::open(fixture(GetParam()).c_str(), O_RDONLY | O_CLOEXEC)));
  const std::optional<DwarfFile> file = DwarfFile::open(*elf, nullptr);
  ASSERT_TRUE(file);
  for (std::uint32_t unit = 0; unit < file->units().size(); ++unit) {
    Dwarf_Die own;
    ASSERT_NE(dwarf_offdie(file->dwarf(), file->units()[unit].first_entry, &own), nullptr);
    std::vector<const void*> expected;
    collect(&own, expected);
    std::vector<const void*> entries;
    std::size_t depth = 0;
    EntryWalk walk(&own, end_of(*file, unit, own));
    while (walk.next()) {
      entries.push_back(walk.entry()->addr);
      ASSERT_GE(depth, walk.closed_count());
      depth -= walk.closed_count();
      depth += walk.enter(true) ? 1 : 0;
    }
    EXPECT_EQ(entries, expected);
  }
}

// clang does not say where siblings are, gcc does.
INSTANTIATE_TEST_SUITE_P(fixtures, Walked, ::testing::Values("dwarf4", "dwarf5", "clang", "lto", "compressed"),
                         [](const auto& instance) { return std::string(instance.param); });

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
               0,  //
               2,
               DW_TAG_class_type,
               1,
               DW_AT_sibling,
               DW_FORM_ref4,
               0,
               0,  //
               3,
               DW_TAG_member,
               0,
               0,
               0,  //
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
  }

  /// Offsets of the entries that a walk over all of the unit passes.
  std::vector<std::ptrdiff_t> walked() const {
    const std::string bytes = elf_file_of({{".debug_abbrev", abbrev_}, {".debug_info", info_}});
    const std::optional<ElfFile> elf = ElfFile::open(deleted_file(bytes));
    const std::optional<DwarfFile> file = DwarfFile::open(*elf, nullptr);
    std::vector<std::ptrdiff_t> offsets;
    Dwarf_Die own;
    if (!file || dwarf_offdie(file->dwarf(), file->units()[0].first_entry, &own) == nullptr) return offsets;
    constexpr std::ptrdiff_t kHeaderBytes = 11;
    EntryWalk walk(&own, end_of(*file, 0, own));
    while (walk.next()) {
      const void* entry = walk.entry()->addr;
      offsets.push_back(static_cast<const char*>(entry) - static_cast<const char*>(own.addr) + kHeaderBytes);
      walk.enter(true);
    }
    return offsets;
  }

  Storage abbrev_;
  Storage info_;
};

TEST_F(SmallUnit, is_walked_entry_by_entry) {
  EXPECT_EQ(walked(), (std::vector<std::ptrdiff_t>{kClass, 17, 18, kFunction}));
}

/// Whatever a sibling reference says, a walk goes forward, or it would never end.
TEST_F(SmallUnit, is_walked_forward_whatever_a_sibling_says) {
  for (unsigned sibling = 0; sibling < 256; ++sibling) {
    info_[kClass + 1] = static_cast<std::uint8_t>(sibling);
    const std::vector<std::ptrdiff_t> offsets = walked();
    ASSERT_FALSE(offsets.empty());
    for (std::size_t i = 1; i < offsets.size(); ++i) EXPECT_LT(offsets[i - 1], offsets[i]) << sibling;
  }
}

TEST_F(SmallUnit, that_is_cut_off_ends_there) {
  const Storage whole = info_;
  for (std::size_t size = 11; size <= whole.size(); ++size) {
    info_ = Storage(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    info_[0] = static_cast<std::uint8_t>(size - 4);
    for (const std::ptrdiff_t offset : walked()) EXPECT_LT(offset, static_cast<std::ptrdiff_t>(size));
  }
}

}  // namespace
}  // namespace hawk
