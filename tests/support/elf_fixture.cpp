#include "tests/support/elf_fixture.h"

#include <elf.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "userspace/base/check.h"

namespace hawk::testing {

std::string fixture_path(const std::string& name) { return std::string(HAWK_ELF_FIXTURES) + "/" + name; }

ElfImage open_image(const std::string& path) {
  Result<ElfImage> image = ElfImage::make(UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)), path);
  HAWK_CHECK(image.has_value(), path.c_str());
  return std::move(*image);
}

Result<ElfImage> image_of_bytes(const std::vector<std::uint8_t>& bytes) {
  UniqueFd fd(::memfd_create("image", MFD_CLOEXEC));
  const ssize_t written = ::write(fd.get(), bytes.data(), bytes.size());
  HAWK_CHECK(written == static_cast<ssize_t>(bytes.size()), "memfd");
  return ElfImage::make(std::move(fd), "image in memory");
}

std::vector<std::uint8_t> bytes_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<std::uint8_t> without_section_headers(std::vector<std::uint8_t> bytes) {
  Elf64_Ehdr header;
  HAWK_CHECK(bytes.size() >= sizeof(header), "an ELF file");
  std::memcpy(&header, bytes.data(), sizeof(header));
  header.e_shoff = 0;
  header.e_shnum = 0;
  header.e_shstrndx = 0;
  std::memcpy(bytes.data(), &header, sizeof(header));
  return bytes;
}

FunctionExtent extent_of(const ElfImage& image, std::string_view name) {
  const std::vector<ElfFunction> found = image.functions(std::span(&name, 1));
  HAWK_CHECK(found.size() == 1, std::string(name).c_str());
  return {found[0].vaddr, found[0].size_bytes};
}

std::string output_of(const std::string& command) {
  std::FILE* pipe = ::popen(command.c_str(), "r");
  HAWK_CHECK(pipe != nullptr, command.c_str());
  std::string text;
  std::array<char, 65536> buffer;
  while (const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe)) text.append(buffer.data(), got);
  EXPECT_EQ(::pclose(pipe), 0) << command;
  return text;
}

std::string TemporaryDirectory::write(const std::string& name, const std::string& content, bool executable) const {
  const std::filesystem::path file = path(name);
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << content;
  if (executable) ::chmod(file.c_str(), 0755);
  return file.string();
}

}  // namespace hawk::testing
