#include "symbolizer/elf_file.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
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

struct Pages {
  char* begin;
  char* end;
};

/// Those of a mapped image that have been written to, which only this process sees: with the section headers, by libelf
/// for what it has decompressed, and by ElfFile::hide_from_libdw(). From the file they would be read again as they
/// were, and libelf would take what it has decompressed for compressed.
Pages written_pages(Elf* elf) {
  std::size_t count = 0;
  char* first = reinterpret_cast<char*>(elf64_getshdr(elf_getscn(elf, 0)));
  if (first == nullptr || elf_getshdrnum(elf, &count) != 0) return {nullptr, nullptr};
  const auto page_bytes = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  char* const end = first + count * sizeof(Elf64_Shdr);
  const std::uintptr_t before = reinterpret_cast<std::uintptr_t>(first) % page_bytes;
  const std::uintptr_t in_last = reinterpret_cast<std::uintptr_t>(end) % page_bytes;
  return {first - before, in_last == 0 ? end : end + (page_bytes - in_last)};
}

/// To the kernel, which reads it from the file again when it is needed. `begin` is at the beginning of a page.
void give_back(char* begin, const char* end) {
  if (begin < end) ::madvise(begin, static_cast<std::size_t>(end - begin), MADV_DONTNEED);
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
  char* image = mapped_ ? elf_rawfile(elf_.get(), &image_bytes) : nullptr;
  if (image == nullptr) return;
  const Pages kept = written_pages(elf_.get());
  char* const end = image + image_bytes;
  const bool are_inside = kept.begin >= image && kept.begin < end;  // libelf has its own copy otherwise
  give_back(image, are_inside ? kept.begin : end);
  if (are_inside) give_back(kept.end, end);
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
