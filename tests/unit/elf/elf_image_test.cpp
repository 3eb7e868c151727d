#include "userspace/elf/elf_image.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <sstream>

#include "tests/support/elf_fixture.h"
#include "userspace/code/allocator_functions.h"
#include "userspace/code/operator_frames.h"

namespace hawk {
namespace {

using testing::bytes_of_file;
using testing::fixture_path;
using testing::image_of_bytes;
using testing::open_image;
using testing::without_section_headers;

constexpr std::array<std::string_view, 3> kMallocFamily = {"malloc", "free", "calloc"};

std::vector<std::string> names_of(const std::vector<ElfFunction>& functions) {
  std::vector<std::string> names;
  for (const ElfFunction& function : functions) names.push_back(function.name);
  std::sort(names.begin(), names.end());
  return names;
}

TEST(ElfImage, BuildIdIsWhatReadelfSays) {
  for (const std::string& path : {fixture_path("allocator.so"), std::string("/usr/lib/x86_64-linux-gnu/libc.so.6")}) {
    const std::string notes = testing::output_of("readelf -n " + path);
    const std::string label = "Build ID: ";
    const std::size_t at = notes.find(label);
    ASSERT_NE(at, std::string::npos);
    EXPECT_EQ(open_image(path).build_id(), notes.substr(at + label.size(), 40));
  }
}

TEST(ElfImage, FunctionsAreDefinedOnes) {
  EXPECT_EQ(names_of(open_image(fixture_path("allocator.so")).functions(kMallocFamily)),
            (std::vector<std::string>{"calloc", "free", "malloc"}));
  // Here malloc is asked for, not defined.
  EXPECT_TRUE(open_image(fixture_path("operators.so")).functions(kMallocFamily).empty());
}

TEST(ElfImage, CompatVersionsAreFound) {
  const std::array<std::string_view, 2> names = {"free", "cfree"};
  const std::vector<ElfFunction> found = open_image("/usr/lib/x86_64-linux-gnu/libc.so.6").functions(names);
  EXPECT_EQ(names_of(found), (std::vector<std::string>{"cfree", "free"}));
  EXPECT_EQ(found[0].vaddr, found[1].vaddr);
  EXPECT_GT(found[0].size_bytes, 0u);
}

/// The look-up by hash against binutils, which goes through the table.
TEST(ElfImage, FindsEveryExportedFunctionThatReadelfLists) {
  for (const std::string library : {"libc.so.6", "libstdc++.so.6", "libjemalloc.so.2"}) {
    const std::string path = "/usr/lib/x86_64-linux-gnu/" + library;
    std::istringstream listing(testing::output_of("readelf -W --dyn-syms " + path));
    std::set<std::pair<std::string, std::uint64_t>> expected;
    for (std::string line; std::getline(listing, line);) {
      std::istringstream fields(line);
      std::string number, value, size, type, bind, visibility, section, name;
      fields >> number >> value >> size >> type >> bind >> visibility >> section >> name;
      if ((type != "FUNC" && type != "IFUNC") || section == "UND") continue;
      expected.emplace(name.substr(0, name.find('@')), std::stoull(value, nullptr, 16));
    }
    ASSERT_GT(expected.size(), 30u) << library;
    std::vector<std::string_view> names = {"no_such_function", "malloc_", "mallo"};
    for (const auto& [name, vaddr] : expected) names.push_back(name);
    std::set<std::pair<std::string, std::uint64_t>> found;
    for (const ElfFunction& function : open_image(path).functions(names)) found.emplace(function.name, function.vaddr);
    EXPECT_EQ(found, expected) << library;
  }
}

TEST(ElfImage, WorksWithoutSectionHeaders) {
  for (const char* name : {"allocator.so", "allocator_sysv.so"}) {
    const std::string path = fixture_path(name);
    const Result<ElfImage> bare = image_of_bytes(without_section_headers(bytes_of_file(path)));
    ASSERT_TRUE(bare) << bare.error().what;
    const ElfImage whole = open_image(path);
    EXPECT_FALSE(bare->has_symtab());
    EXPECT_TRUE(whole.has_symtab());
    EXPECT_EQ(bare->build_id(), whole.build_id());
    EXPECT_EQ(names_of(bare->functions(kMallocFamily)), names_of(whole.functions(kMallocFamily)));
    EXPECT_EQ(find_allocator_functions(*bare).functions.size(), find_allocator_functions(whole).functions.size());
  }
}

TEST(ElfImage, OffsetsAndAddressesAreInverse) {
  const ElfImage image = open_image(fixture_path("static_program"));
  const FunctionExtent function = testing::extent_of(image, "malloc");
  const std::optional<std::uint64_t> offset = image.file_offset_of(function.vaddr);
  ASSERT_TRUE(offset);
  EXPECT_NE(*offset, function.vaddr);
  EXPECT_EQ(image.vaddr_of(*offset), function.vaddr);
  const std::vector<std::uint8_t> bytes = bytes_of_file(fixture_path("static_program"));
  const std::span<const std::uint8_t> code = image.code_at(function.vaddr, 32);
  ASSERT_EQ(code.size(), 32u);
  EXPECT_TRUE(std::equal(code.begin(), code.end(), bytes.begin() + static_cast<std::ptrdiff_t>(*offset)));
  EXPECT_FALSE(image.file_offset_of(1));
  EXPECT_FALSE(image.vaddr_of(bytes.size()));
  EXPECT_TRUE(image.code_at(1, 16).empty());
}

TEST(ElfImage, CodeEndsWithItsSegment) {
  const ElfImage image = open_image(fixture_path("no_operator.so"));
  const FunctionExtent function = testing::extent_of(image, "nothing");
  EXPECT_EQ(function.size_bytes, 1u);
  EXPECT_GE(image.code_at(function.vaddr, 4096).size(), 1u);
  EXPECT_LT(image.code_at(function.vaddr, 4096).size(), 64u);
}

TEST(ElfImage, GotSlotsHaveNames) {
  const std::string path = fixture_path("operators.so");
  const ElfImage image = open_image(path);
  const std::string relocations = testing::output_of("readelf -W -r " + path);
  int named = 0;
  for (std::size_t at = 0; at < relocations.size(); at = relocations.find('\n', at) + 1) {
    const std::string line = relocations.substr(at, relocations.find('\n', at) - at);
    const bool is_slot = line.find("JUMP_SLOT") != std::string::npos || line.find("GLOB_DAT") != std::string::npos;
    if (!is_slot) continue;
    ++named;
    const std::optional<std::string_view> name = image.got_symbol(std::stoull(line, nullptr, 16));
    ASSERT_TRUE(name) << line;
    EXPECT_NE(line.find(" " + std::string(*name) + " + 0"), std::string::npos) << line;
  }
  EXPECT_GE(named, 3);
  EXPECT_FALSE(image.got_symbol(0));
}

TEST(ElfImage, InitAndInterpreter) {
  const ElfImage libc = open_image("/usr/lib/x86_64-linux-gnu/libc.so.6");
  EXPECT_EQ(libc.interpreter(), "/lib64/ld-linux-x86-64.so.2");
  const ElfImage library = open_image("/usr/lib/x86_64-linux-gnu/libstdc++.so.6");
  EXPECT_EQ(library.interpreter(), "");
  const std::string dynamic = testing::output_of("readelf -W -d /usr/lib/x86_64-linux-gnu/libstdc++.so.6");
  const std::size_t at = dynamic.find("(INIT)");
  ASSERT_NE(at, std::string::npos);
  EXPECT_EQ(library.init_vaddr(), std::stoull(dynamic.substr(dynamic.find("0x", at)), nullptr, 16));
  EXPECT_FALSE(open_image(fixture_path("no_operator.so")).init_vaddr());
  EXPECT_EQ(open_image(fixture_path("static_program")).interpreter(), "");
}

TEST(ElfImage, OtherFilesAreRefusedWithTheirReason) {
  std::vector<std::uint8_t> bytes = bytes_of_file(fixture_path("allocator.so"));
  const std::vector<std::uint8_t> good = bytes;
  bytes[EI_CLASS] = ELFCLASS32;
  EXPECT_EQ(image_of_bytes(bytes).error().exit_code, ExitCode::kPrivilege);
  EXPECT_NE(image_of_bytes(bytes).error().what.find("32-bit"), std::string::npos);
  bytes = good;
  bytes[offsetof(Elf64_Ehdr, e_machine)] = EM_AARCH64;
  EXPECT_NE(image_of_bytes(bytes).error().what.find("another processor"), std::string::npos);
  bytes = good;
  bytes[offsetof(Elf64_Ehdr, e_type)] = ET_REL;
  EXPECT_EQ(image_of_bytes(bytes).error().exit_code, ExitCode::kFile);
  EXPECT_NE(image_of_bytes({'#', '!'}).error().what.find("not an ELF file"), std::string::npos);
  EXPECT_FALSE(image_of_bytes({}));
  EXPECT_FALSE(ElfImage::make(UniqueFd(), "nothing"));
}

/// Asks everything there is to ask.
void exercise(const std::vector<std::uint8_t>& bytes) {
  const Result<ElfImage> image = image_of_bytes(bytes);
  if (!image) return;
  (void)image->build_id();
  (void)image->has_symtab();
  (void)image->interpreter();
  (void)find_allocator_functions(*image);
  (void)find_operator_frames(*image);
}

TEST(ElfImage, SurvivesTruncation) {
  const std::vector<std::uint8_t> whole = bytes_of_file(fixture_path("allocator.so"));
  for (std::size_t size = 0; size < whole.size(); size += 97) {
    exercise({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)});
  }
}

TEST(ElfImage, SurvivesDamage) {
  const std::vector<std::uint8_t> whole = bytes_of_file(fixture_path("allocator.so"));
  std::uint32_t random = 12345;
  const auto next = [&random] { return random = random * 1664525 + 1013904223; };
  // Where it hurts most: headers, the dynamic section, tables at the start of the file.
  const std::size_t dense = std::min<std::size_t>(whole.size(), 1500);
  for (int round = 0; round < 600; ++round) {
    std::vector<std::uint8_t> bytes = whole;
    for (int change = 0; change < 3; ++change) {
      const std::size_t range = round % 2 == 0 ? dense : bytes.size();
      bytes[(next() >> 8) % range] = static_cast<std::uint8_t>(next() >> 24);
    }
    exercise(bytes);
  }
}

}  // namespace
}  // namespace hawk
