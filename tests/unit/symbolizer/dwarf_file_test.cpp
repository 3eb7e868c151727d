#include "symbolizer/dwarf_file.h"

#include <dwarf.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>

#include "oracle.h"
#include "symbolizer/section_sizes.h"

namespace hawk {
namespace {

std::optional<ElfFile> open_fixture(const std::string& name) {
  return ElfFile::open(UniqueFd(::open(fixture(name).c_str(), O_RDONLY | O_CLOEXEC)));
}

TEST(dwarf_file, lists_its_units) {
  const std::optional<ElfFile> elf = open_fixture("dwarf4");
  const std::optional<DwarfFile> file = DwarfFile::open(*elf, nullptr);
  ASSERT_TRUE(file);
  ASSERT_GE(file->units().size(), 2u);
  const UnitSpan& second = file->units()[1];
  EXPECT_EQ(file->unit_around(second.begin), 1u);
  EXPECT_EQ(file->unit_around(second.first_entry), 1u);
  EXPECT_EQ(file->unit_around(second.begin - 1), 0u);
  EXPECT_EQ(file->unit_around(file->units().back().end), std::nullopt);
  EXPECT_EQ(file->unit_around(UINT64_MAX), std::nullopt);
}

TEST(dwarf_file, is_none_without_debug_information) {
  const std::optional<ElfFile> elf = open_fixture("nodebug");
  EXPECT_FALSE(DwarfFile::open(*elf, nullptr));
}

TEST(dwarf_file, that_is_renewed_has_the_same_entries) {
  for (const char* name : {"dwarf4", "compressed", "compressed_old"}) {
    const std::optional<ElfFile> elf = open_fixture(name);
    std::optional<DwarfFile> file = DwarfFile::open(*elf, nullptr);
    ASSERT_TRUE(file);
    Dwarf_Die before;
    ASSERT_NE(dwarf_offdie(file->dwarf(), file->units()[1].first_entry, &before), nullptr);
    const char* text = dwarf_diename(&before);
    ASSERT_TRUE(file->renew());
    Dwarf_Die after;
    ASSERT_NE(dwarf_offdie(file->dwarf(), file->units()[1].first_entry, &after), nullptr);
    EXPECT_EQ(after.addr, before.addr);
    EXPECT_EQ(dwarf_diename(&after), text);
  }
}

/// A file so large that it is mapped, for it has a hole at its end. What libdw has decompressed is so still.
TEST(dwarf_file, that_is_mapped_has_the_same_entries_once_its_memory_was_released) {
  constexpr std::uintmax_t kBytes = std::uintmax_t{80} << 20;
  for (const char* name : {"dwarf4", "compressed", "compressed_old", "compressed_zstd"}) {
    const std::string path = ::testing::TempDir() + "hawk_large_" + name + std::to_string(::getpid());
    std::filesystem::copy_file(fixture(name), path, std::filesystem::copy_options::overwrite_existing);
    std::filesystem::resize_file(path, kBytes);
    const std::optional<ElfFile> elf = ElfFile::open(UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)));
    std::filesystem::remove(path);
    ASSERT_TRUE(elf && elf->is_mapped()) << name;
    std::optional<DwarfFile> file = DwarfFile::open(*elf, nullptr);
    ASSERT_TRUE(file) << name;
    Dwarf_Die before;
    ASSERT_NE(dwarf_offdie(file->dwarf(), file->units()[1].first_entry, &before), nullptr) << name;
    const std::string text = dwarf_diename(&before);
    elf->release();
    ASSERT_TRUE(file->renew()) << name;
    Dwarf_Die after;
    ASSERT_NE(dwarf_offdie(file->dwarf(), file->units()[1].first_entry, &after), nullptr) << name;
    EXPECT_EQ(after.addr, before.addr) << name;
    EXPECT_EQ(dwarf_diename(&after), text) << name;
  }
}

/// libdw decompresses what it is given: whatever is in it then is not compressed any more.
TEST(dwarf_file, gives_libdw_only_what_is_used) {
  const std::optional<ElfFile> elf = open_fixture("compressed");
  std::optional<DwarfFile> file = DwarfFile::open(*elf, nullptr);
  ASSERT_TRUE(file);
  ASSERT_TRUE(file->renew());
  std::size_t unused = 0;
  for (std::size_t number = 0; number < elf->sections().headers().size(); ++number) {
    const Elf64_Shdr& stored = elf->sections().headers()[number];
    if ((stored.sh_flags & SHF_COMPRESSED) == 0) continue;
    const bool is_unused = debug_section(elf->sections().name_of(stored)) == DebugSection::kUnused;
    const Elf64_Shdr* now = elf64_getshdr(elf_getscn(elf->elf(), number));
    EXPECT_EQ((now->sh_flags & SHF_COMPRESSED) != 0, is_unused) << elf->sections().name_of(stored);
    unused += is_unused ? 1 : 0;
  }
  EXPECT_GT(unused, 0u);
}

/// dwz.common lies where libdw would look for it: in the directory of the open file.
TEST(dwarf_file, never_opens_an_alternate_file_by_itself) {
  const std::optional<ElfFile> elf = open_fixture("dwz1");
  ASSERT_FALSE(elf->section(".gnu_debugaltlink").empty());
  const std::optional<DwarfFile> file = DwarfFile::open(*elf, nullptr);
  ASSERT_TRUE(file);
  Dwarf* alternate = dwarf_getalt(file->dwarf());
  ASSERT_NE(alternate, nullptr);
  Dwarf_Die entry;
  EXPECT_EQ(dwarf_offdie(alternate, 11, &entry), nullptr);
}

}  // namespace
}  // namespace hawk
