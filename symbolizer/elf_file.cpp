#include "symbolizer/elf_file.h"

#include <elf.h>
#include <elfutils/libdwelf.h>
#include <gelf.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "symbolizer/truncated_files.h"

namespace hawk {
namespace {

constexpr off_t kLargestFileReadIntoMemoryBytes = 64 << 20;

}  // namespace

std::optional<ElfFile> ElfFile::open(UniqueFd fd) {
  elf_version(EV_CURRENT);
  struct stat status {};
  if (!fd || ::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  ElfFile file;
  file.size_bytes_ = static_cast<std::uint64_t>(status.st_size);
  file.mapped_ = status.st_size > kLargestFileReadIntoMemoryBytes;
  if (file.mapped_) survive_truncated_files();
  const Elf_Cmd how = file.mapped_ ? ELF_C_READ_MMAP : ELF_C_READ;
  file.fd_ = std::move(fd);
  file.elf_.reset(elf_begin(file.fd_.get(), how, nullptr));
  if (!file.elf_ || elf_kind(file.elf_.get()) != ELF_K_ELF) return std::nullopt;
  return file;
}

std::optional<ElfFile> ElfFile::of_bytes(std::vector<char> bytes) {
  elf_version(EV_CURRENT);
  ElfFile file;
  file.memory_ = std::move(bytes);
  file.size_bytes_ = file.memory_.size();
  file.elf_.reset(elf_memory(file.memory_.data(), file.memory_.size()));
  if (!file.elf_ || elf_kind(file.elf_.get()) != ELF_K_ELF) return std::nullopt;
  return file;
}

void ElfFile::release() const {
  std::size_t image_bytes = 0;
  // The mapping is for reading only: no page can hold anything but what the file does.
  char* image = mapped_ ? elf_rawfile(elf_.get(), &image_bytes) : nullptr;
  if (image != nullptr) ::madvise(image, image_bytes, MADV_DONTNEED);
}

bool ElfFile::is_mapped(Bytes part) const {
  std::size_t image_bytes = 0;
  const char* image = mapped_ ? elf_rawfile(elf_.get(), &image_bytes) : nullptr;
  const char* start = reinterpret_cast<const char*>(part.data());
  return image != nullptr && start >= image && start < image + image_bytes;
}

Bytes ElfFile::section(const char* name) const {
  std::size_t names = 0;
  if (elf_getshdrstrndx(elf_.get(), &names) != 0) return {};
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf_.get(), section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type == SHT_NOBITS) continue;
    const char* found = elf_strptr(elf_.get(), names, header.sh_name);
    if (found == nullptr || std::strcmp(found, name) != 0) continue;
    const Elf_Data* data = elf_rawdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr) return {};
    return {static_cast<const std::uint8_t*>(data->d_buf), data->d_size};
  }
  return {};
}

std::string ElfFile::build_id() const {
  const void* bytes = nullptr;
  const ssize_t length = dwelf_elf_gnu_build_id(elf_.get(), &bytes);
  if (length <= 0) return {};
  return {static_cast<const char*>(bytes), static_cast<std::size_t>(length)};
}

bool ElfFile::has_debug_info() const {
  std::size_t names = 0;
  if (elf_getshdrstrndx(elf_.get(), &names) != 0) return false;
  Elf_Scn* section = nullptr;
  while ((section = elf_nextscn(elf_.get(), section)) != nullptr) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type == SHT_NOBITS) continue;
    const char* name = elf_strptr(elf_.get(), names, header.sh_name);
    if (name == nullptr) continue;
    if (std::strcmp(name, ".debug_info") == 0 || std::strcmp(name, ".zdebug_info") == 0) return true;
  }
  return false;
}

bool ElfFile::has_symtab() const {
  Elf_Scn* section = nullptr;
  while ((section = elf_nextscn(elf_.get(), section)) != nullptr) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) != nullptr && header.sh_type == SHT_SYMTAB) return true;
  }
  return false;
}

}  // namespace hawk
