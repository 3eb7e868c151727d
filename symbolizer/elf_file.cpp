#include "symbolizer/elf_file.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "symbolizer/truncated_files.h"
#include "userspace/elf/elf_header.h"

namespace hawk {
namespace {

constexpr std::uint64_t kLargestFileReadIntoMemoryBytes = 64 << 20;

bool is_regular_file(const UniqueFd& fd) {
  struct stat status {};
  return fd && ::fstat(fd.get(), &status) == 0 && S_ISREG(status.st_mode);
}

}  // namespace

std::optional<ElfFile> ElfFile::open(UniqueFd fd) {
  if (!is_regular_file(fd)) return std::nullopt;
  ElfFile file;
  file.file_ = std::make_unique<ElfBytes>(std::move(fd));
  file.mapped_ = file.size_bytes() > kLargestFileReadIntoMemoryBytes;
  if (file.mapped_) survive_truncated_files();
  elf_version(EV_CURRENT);
  const Elf_Cmd how = file.mapped_ ? ELF_C_READ_MMAP_PRIVATE : ELF_C_READ;
  if (!file.begin(ElfPtr(elf_begin(file.fd(), how, nullptr)))) return std::nullopt;
  return file;
}

std::optional<ElfFile> ElfFile::of_bytes(std::vector<char> bytes) {
  ElfFile file;
  file.memory_ = std::move(bytes);
  file.file_ = std::make_unique<ElfBytes>(bytes_in({file.memory_.data(), file.memory_.size()}));
  elf_version(EV_CURRENT);
  if (!file.begin(ElfPtr(elf_memory(file.memory_.data(), file.memory_.size())))) return std::nullopt;
  return file;
}

/// False: it is no image that we read.
bool ElfFile::begin(ElfPtr elf) {
  elf_ = std::move(elf);
  return elf_ && elf_kind(elf_.get()) == ELF_K_ELF && header();
}

std::optional<Elf64_Ehdr> ElfFile::header() const { return elf_header_in(raw(0, sizeof(Elf64_Ehdr))); }

void ElfFile::hide_from_libdw(std::size_t number) const {
  // libelf's copy of the header, or the page of a private mapping.
  Elf64_Shdr* header = elf64_getshdr(elf_getscn(elf_.get(), number));
  if (header != nullptr) header->sh_type = SHT_NOBITS;
}

void ElfFile::release() const {
  std::size_t image_bytes = 0;
  // A private mapping: what was written to it, by hide_from_libdw() alone, is read again from the file.
  char* image = mapped_ ? elf_rawfile(elf_.get(), &image_bytes) : nullptr;
  if (image != nullptr) ::madvise(image, image_bytes, MADV_DONTNEED);
}

bool ElfFile::is_mapped(Bytes part) const {
  std::size_t image_bytes = 0;
  const char* image = mapped_ ? elf_rawfile(elf_.get(), &image_bytes) : nullptr;
  const char* start = reinterpret_cast<const char*>(part.data());
  return image != nullptr && start >= image && start < image + image_bytes;
}

const ElfSections& ElfFile::sections() const {
  // As none of a file that has shrunk since it was opened.
  if (!sections_) sections_.emplace(*file_, header().value_or(Elf64_Ehdr{}));
  return *sections_;
}

Bytes ElfFile::content(std::size_t number) const {
  const Elf_Data* data = elf_rawdata(elf_getscn(elf_.get(), number), nullptr);
  if (data == nullptr || data->d_buf == nullptr) return {};
  return {static_cast<const std::uint8_t*>(data->d_buf), data->d_size};
}

Bytes ElfFile::section(std::string_view name) const {
  const std::optional<std::size_t> number = sections().number_of(name);
  return number ? content(*number) : Bytes();
}

std::string ElfFile::build_id() const {
  std::string id = sections().build_id();
  if (!id.empty() || !sections().headers().empty()) return id;
  const Elf64_Ehdr head = header().value_or(Elf64_Ehdr{});
  for (const Elf64_Phdr& segment : program_headers_in(raw(head.e_phoff, program_headers_bytes(head)))) {
    if (segment.p_type != PT_NOTE || segment.p_filesz > kMaxNoteBytes) continue;
    id = build_id_in(raw(segment.p_offset, segment.p_filesz), segment.p_align);
    if (!id.empty()) break;
  }
  return id;
}

bool ElfFile::has_debug_info() const {
  return sections().number_of(".debug_info") || sections().number_of(".zdebug_info");
}

}  // namespace hawk
