/// Where call frame information is found, checked against binutils.
#include <elf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "tests/support/elf_fixture.h"
#include "userspace/elf/elf_image.h"
#include "userspace/process/vdso.h"

namespace hawk {
namespace {

using testing::bytes_of_file;
using testing::fixture_path;
using testing::image_of_bytes;
using testing::open_image;
using testing::without_section_headers;
using Bytes = std::vector<std::uint8_t>;

const std::string kLibc = "/usr/lib/x86_64-linux-gnu/libc.so.6";

struct Section {
  std::uint64_t vaddr = 0;
  Bytes bytes;
};

/// As readelf and objcopy see it.
Section section_of(const std::string& path, const std::string& name) {
  const testing::TemporaryDirectory directory;
  const std::string content = directory.path() + "/content";
  testing::output_of("objcopy --dump-section " + name + "=" + content + " " + path + " /dev/null");
  std::istringstream line(testing::output_of("readelf -SW " + path + " | grep ' \\" + name + " ' | sed 's/.*\\] *//'"));
  std::string word, type;
  Section section;
  line >> word >> type >> std::hex >> section.vaddr;
  section.bytes = bytes_of_file(content);
  return section;
}

TEST(CallFrameSection, EhFrameByItsSectionHeader) {
  for (const std::string& path : {kLibc, fixture_path("return_points.so"), fixture_path("static_program")}) {
    const std::optional<CallFrameSection> found = open_image(path).eh_frame();
    const Section expected = section_of(path, ".eh_frame");
    ASSERT_TRUE(found) << path;
    EXPECT_EQ(found->vaddr, expected.vaddr) << path;
    EXPECT_EQ(found->bytes, expected.bytes) << path;
    EXPECT_FALSE(found->is_debug_frame);
    EXPECT_FALSE(found->ends_at_zero);
  }
}

/// A sparse file costs only its reader.
TEST(CallFrameSection, MoreThanTheBudgetIsNotRead) {
  Bytes bytes = bytes_of_file(fixture_path("return_points.so"));
  const std::uint64_t vaddr = section_of(fixture_path("return_points.so"), ".eh_frame").vaddr;
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    std::uint8_t* at = bytes.data() + header.e_shoff + i * sizeof(Elf64_Shdr);
    Elf64_Shdr section;
    std::memcpy(&section, at, sizeof(section));
    if (section.sh_addr != vaddr) continue;
    section.sh_size = UINT64_MAX;
    std::memcpy(at, &section, sizeof(section));
  }
  const testing::TemporaryDirectory directory;
  const std::string path = directory.write("large", std::string(bytes.begin(), bytes.end()));
  for (const std::uint64_t size : {kMaxCallFrameBytes / 2, 4 * kMaxCallFrameBytes}) {
    std::filesystem::resize_file(path, size);
    const std::optional<CallFrameSection> found = open_image(path).eh_frame();
    ASSERT_TRUE(found);
    EXPECT_EQ(found->is_too_large, size > kMaxCallFrameBytes);
    EXPECT_EQ(found->bytes.empty(), found->is_too_large);
  }
}

TEST(CallFrameSection, EhFrameByItsIndexWhereThereAreNoSectionHeaders) {
  for (const std::string& path : {kLibc, fixture_path("return_points.so")}) {
    const Result<ElfImage> image = image_of_bytes(without_section_headers(bytes_of_file(path)));
    ASSERT_TRUE(image) << image.error().what;
    const std::optional<CallFrameSection> found = image->eh_frame();
    const Section expected = section_of(path, ".eh_frame");
    ASSERT_TRUE(found) << path;
    EXPECT_EQ(found->vaddr, expected.vaddr) << path;
    EXPECT_TRUE(found->ends_at_zero) << "the rest of the segment comes along";
    ASSERT_GE(found->bytes.size(), expected.bytes.size());
    EXPECT_TRUE(std::equal(expected.bytes.begin(), expected.bytes.end(), found->bytes.begin()));
  }
}

TEST(CallFrameSection, NoneInAFileWithoutCode) {
  // Compiled from assembly without a single .cfi_startproc.
  EXPECT_FALSE(open_image(fixture_path("placement.so")).eh_frame());
  EXPECT_FALSE(open_image(kLibc).debug_frame());
}

TEST(CallFrameSection, DebugFrameUnlessCompressed) {
  const std::string path = fixture_path("debug_frame.so");
  const std::optional<CallFrameSection> found = open_image(path).debug_frame();
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->is_debug_frame);
  EXPECT_EQ(found->bytes, section_of(path, ".debug_frame").bytes);
  EXPECT_FALSE(open_image(fixture_path("debug_frame_compressed.so")).debug_frame());
}

TEST(CallFrameSection, DamagedHeadersGiveNone) {
  const Bytes whole = bytes_of_file(fixture_path("return_points.so"));
  Elf64_Ehdr header;
  std::memcpy(&header, whole.data(), sizeof(header));
  for (const std::uint16_t names_at : {std::uint16_t{SHN_XINDEX}, std::uint16_t{0}, std::uint16_t{0xfff0}}) {
    Bytes damaged = whole;
    std::memcpy(damaged.data() + offsetof(Elf64_Ehdr, e_shstrndx), &names_at, sizeof(names_at));
    // Names cannot be read any more, so that the index has to do.
    const std::optional<CallFrameSection> found = image_of_bytes(damaged)->eh_frame();
    ASSERT_TRUE(found) << names_at;
    EXPECT_TRUE(found->ends_at_zero) << names_at;
  }
  for (std::size_t cut = sizeof(header); cut < whole.size(); cut += 61) {
    const Result<ElfImage> image =
        image_of_bytes(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(cut)));
    if (!image) continue;
    const std::optional<CallFrameSection> found = image->eh_frame();
    EXPECT_TRUE(!found || found->bytes.size() <= cut);
  }
}

TEST(CallFrameSection, TheVdsoIsReadFromOurOwnProcess) {
  Result<ElfLayout> vdso = read_vdso();
  ASSERT_TRUE(vdso) << vdso.error().what;
  const ElfImage image(std::move(*vdso));
  EXPECT_TRUE(image.is_library());
  constexpr std::array<std::string_view, 1> kNames = {"__vdso_clock_gettime"};
  EXPECT_EQ(image.functions(kNames).size(), 1u);
  ASSERT_TRUE(image.eh_frame());
  EXPECT_FALSE(image.eh_frame()->bytes.empty());
}

}  // namespace
}  // namespace hawk
