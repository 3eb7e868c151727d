#include "debug_image.h"

#include <elf.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "tests/support/elf_header.h"

namespace hawk {

void append(Storage& to, std::uint64_t value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) to.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}

void append(Storage& to, const std::string& text) {
  to.insert(to.end(), text.begin(), text.end());
  to.push_back(0);
}

Storage joined(const std::vector<Storage>& parts) {
  Storage whole;
  for (const Storage& part : parts) whole.insert(whole.end(), part.begin(), part.end());
  return whole;
}

std::string elf_file_of(const std::vector<std::pair<std::string, Storage>>& sections) {
  Elf64_Ehdr header = testing::elf_header(ET_DYN);
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = static_cast<Elf64_Half>(sections.size() + 2);
  header.e_shstrndx = static_cast<Elf64_Half>(sections.size() + 1);
  std::string content(sizeof header, '\0');
  std::string names(1, '\0');
  std::vector<Elf64_Shdr> table(1);
  const auto add = [&](const std::string& name, Elf64_Word type, const std::string& bytes) {
    Elf64_Shdr& section = table.emplace_back();
    section.sh_name = static_cast<Elf64_Word>(names.size());
    section.sh_type = type;
    section.sh_offset = content.size();
    section.sh_size = bytes.size();
    section.sh_addralign = 1;
    names.append(name).push_back('\0');
    content += bytes;
  };
  for (const auto& [name, bytes] : sections) add(name, SHT_PROGBITS, std::string(bytes.begin(), bytes.end()));
  names += std::string(".shstrtab") + '\0';
  Elf64_Shdr& last = table.emplace_back();
  last.sh_name = static_cast<Elf64_Word>(names.size() - sizeof ".shstrtab");
  last.sh_type = SHT_STRTAB;
  last.sh_offset = content.size();
  last.sh_size = names.size();
  content += names;
  header.e_shoff = content.size();
  content.append(reinterpret_cast<const char*>(table.data()), table.size() * sizeof table[0]);
  std::memcpy(content.data(), &header, sizeof header);
  return content;
}

UniqueFd deleted_file(const std::string& bytes) {
  std::string path = ::testing::TempDir() + "hawk_symbolizer_XXXXXX";
  UniqueFd fd(::mkstemp(path.data()));
  EXPECT_TRUE(fd);
  ::unlink(path.c_str());
  EXPECT_EQ(::write(fd.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  return fd;
}

}  // namespace hawk
