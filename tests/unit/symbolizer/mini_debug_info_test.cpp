#include "symbolizer/mini_debug_info.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <lzma.h>

#include "debug_image.h"
#include "oracle.h"

namespace hawk {
namespace {

Storage xz_of(const Storage& bytes) {
  Storage compressed(::lzma_stream_buffer_bound(bytes.size()));
  std::size_t size = 0;
  EXPECT_EQ(::lzma_easy_buffer_encode(1, LZMA_CHECK_CRC32, nullptr, bytes.data(), bytes.size(), compressed.data(),
                                      &size, compressed.size()),
            LZMA_OK);
  compressed.resize(size);
  return compressed;
}

std::optional<ElfFile> found_in(const Storage& section) {
  const std::optional<ElfFile> file = ElfFile::open(deleted_file(elf_file_of({{".gnu_debugdata", section}})));
  EXPECT_TRUE(file);
  return find_mini_debug_info(*file);
}

TEST(mini_debug_info, names_functions_that_were_stripped) {
  const std::unique_ptr<LibdwSymbolizer> whole = symbolizer_for(fixture("nodebug"));
  const std::unique_ptr<LibdwSymbolizer> mini = symbolizer_for(fixture("links/mini"), "/nowhere/program");
  EXPECT_EQ(mini->source(ModuleId{0}), SymbolSource::kSymtab);
  for (const std::uint64_t site : call_sites(fixture("nodebug"))) {
    EXPECT_EQ(mini->frames(ModuleId{0}, site), whole->frames(ModuleId{0}, site));
  }
}

TEST(mini_debug_info, is_none_where_there_is_no_section) {
  const std::optional<ElfFile> file = ElfFile::open(UniqueFd(::open(fixture("nodebug").c_str(), O_RDONLY | O_CLOEXEC)));
  EXPECT_FALSE(find_mini_debug_info(*file));
}

TEST(mini_debug_info, that_is_damaged_or_cut_off_is_none) {
  const std::string image = elf_file_of({{".text", Storage(5000, 0x90)}});
  const Storage whole = xz_of(Storage(image.begin(), image.end()));
  EXPECT_TRUE(found_in(whole));
  for (std::size_t size = 0; size < whole.size(); size += 7) {
    EXPECT_FALSE(found_in(Storage(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)))) << size;
  }
  EXPECT_FALSE(found_in(Storage(1000, 0xa5)));
  EXPECT_FALSE(found_in(xz_of(Storage(1000, 0xa5))));  // no ELF image
}

/// 300 MiB of zeros take 45 KiB.
TEST(mini_debug_info, that_stands_for_too_much_is_none) {
  EXPECT_FALSE(found_in(xz_of(Storage(std::size_t{300} << 20))));
}

}  // namespace
}  // namespace hawk
