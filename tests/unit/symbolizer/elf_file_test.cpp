#include "symbolizer/elf_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>
#include <vector>

#include "oracle.h"

namespace hawk {
namespace {

/// A copy of a fixture with a hole at its end, so large that it is mapped and not read.
class LargeFile : public ::testing::Test {
 protected:
  static constexpr std::uintmax_t kBytes = std::uintmax_t{80} << 20;

  LargeFile() : path_(::testing::TempDir() + "hawk_large_" + std::to_string(::getpid())) {
    std::filesystem::copy_file(fixture("dwarf5"), path_, std::filesystem::copy_options::overwrite_existing);
    std::filesystem::resize_file(path_, kBytes);
  }
  ~LargeFile() override { std::filesystem::remove(path_); }

  std::optional<ElfFile> open() const { return ElfFile::open(UniqueFd(::open(path_.c_str(), O_RDONLY | O_CLOEXEC))); }

  const std::string path_;
};

/// Pages of [image, image + bytes) that this process has mapped: bit 63 of /proc/self/pagemap (proc_pid_pagemap(5)).
std::size_t resident_pages(const char* image, std::size_t bytes) {
  const std::size_t page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  std::vector<std::uint64_t> entries(bytes / page);
  const UniqueFd pagemap(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC));
  const off_t offset = static_cast<off_t>(reinterpret_cast<std::uintptr_t>(image) / page * sizeof(std::uint64_t));
  const ssize_t wanted = static_cast<ssize_t>(entries.size() * sizeof(std::uint64_t));
  EXPECT_EQ(::pread(pagemap.get(), entries.data(), static_cast<std::size_t>(wanted), offset), wanted);
  std::size_t count = 0;
  for (const std::uint64_t entry : entries) count += entry >> 63;
  return count;
}

TEST_F(LargeFile, is_mapped_and_gives_its_memory_back) {
  const std::optional<ElfFile> file = open();
  ASSERT_TRUE(file && file->is_mapped());
  std::size_t bytes = 0;
  const char* image = elf_rawfile(file->elf(), &bytes);
  ASSERT_EQ(bytes, kBytes);
  unsigned sum = 0;
  for (std::size_t i = 0; i < bytes; i += 4096) sum += static_cast<unsigned char>(image[i]);
  EXPECT_GT(resident_pages(image, bytes), 10'000u) << sum;
  const std::string build_id = file->build_id();
  file->release();
  constexpr std::size_t kPagesOfSectionHeaders = 2;
  EXPECT_LE(resident_pages(image, bytes), kPagesOfSectionHeaders);
  EXPECT_EQ(file->build_id(), build_id);
}

TEST_F(LargeFile, has_the_frames_of_a_small_one) {
  const std::unique_ptr<LibdwSymbolizer> small = symbolizer_for(fixture("dwarf5"));
  const std::unique_ptr<LibdwSymbolizer> large = symbolizer_for(path_);
  for (const std::uint64_t site : call_sites(fixture("dwarf5"))) {
    EXPECT_EQ(large->frames(ModuleId{0}, site), small->frames(ModuleId{0}, site));
  }
}

TEST_F(LargeFile, knows_which_bytes_are_its_own) {
  const std::optional<ElfFile> file = open();
  ASSERT_TRUE(file);
  const Bytes text = file->section(".text");
  EXPECT_FALSE(text.empty());
  EXPECT_TRUE(file->is_mapped(text));
  const std::vector<std::uint8_t> elsewhere(8);
  EXPECT_FALSE(file->is_mapped(elsewhere));
  EXPECT_TRUE(file->section(".no_such_section").empty());
}

TEST(elf_file, of_a_small_file_is_not_mapped) {
  const std::optional<ElfFile> file = ElfFile::open(UniqueFd(::open(fixture("dwarf5").c_str(), O_RDONLY | O_CLOEXEC)));
  ASSERT_TRUE(file);
  EXPECT_FALSE(file->is_mapped());
  file->release();
  EXPECT_FALSE(file->section(".text").empty());
}

/// Reading it would raise SIGBUS.
TEST_F(LargeFile, that_is_truncated_goes_on_as_zeros) {
  const std::optional<ElfFile> file = open();
  ASSERT_TRUE(file && file->is_mapped());
  std::size_t bytes = 0;
  const char* image = elf_rawfile(file->elf(), &bytes);
  std::filesystem::resize_file(path_, 0);
  for (std::size_t offset = 0; offset < bytes; offset += bytes / 16) EXPECT_EQ(image[offset], 0) << offset;
  EXPECT_TRUE(file->section(".debug_info").empty());
  EXPECT_EQ(file->build_id(), "");
  file->release();
  EXPECT_EQ(image[bytes - 1], 0);
}

}  // namespace
}  // namespace hawk
