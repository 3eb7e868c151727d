#include "userspace/elf/elf_layout.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "userspace/elf/arch/x86_64/machine.h"
#include "userspace/elf/elf_header.h"
#include "userspace/elf/elf_sections.h"

namespace hawk {
namespace {

/// File header, program headers and notes of nearly every file in one read.
constexpr std::size_t kHeadBytes = 4096;
constexpr std::uint64_t kMaxInterpreterBytes = 4096;
constexpr std::uint64_t kMaxDynamicBytes = 1u << 20;

/// As people write it.
std::string hex_of(const std::string& bytes) {
  std::string hex;
  for (const char byte : bytes) hex += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return hex;
}

Result<Elf64_Ehdr> check_header(Bytes head, const std::string& name) {
  if (is_32_bit_elf(head)) {
    return fail(ExitCode::kPrivilege, fmt::format("read {}: a 32-bit ELF file", name),
                "hawktrace traces 64-bit x86-64 programs only");
  }
  const std::optional<Elf64_Ehdr> header = elf_header_in(head);
  if (!header && !is_64_bit_elf(head)) return fail(ExitCode::kFile, fmt::format("read {}: not an ELF file", name));
  if (!header || header->e_machine != arch::kElfMachine) {
    return fail(ExitCode::kPrivilege, fmt::format("read {}: an ELF file for another processor", name),
                "hawktrace traces 64-bit x86-64 programs only");
  }
  if (header->e_type != ET_EXEC && header->e_type != ET_DYN) {
    return fail(ExitCode::kFile, fmt::format("read {}: neither an executable nor a shared library", name));
  }
  return *header;
}

}  // namespace

struct ElfLayout::Impl {
  explicit Impl(ElfSegments parts) : segments(std::move(parts)) {}

  ElfSegments segments;
  Elf64_Ehdr header = {};
  std::string interpreter;
  std::string build_id;
  std::optional<Elf64_Phdr> dynamic_segment;
  std::optional<std::uint64_t> unwind_index_vaddr;

  void read_program_headers(Bytes head);
  void take(const Elf64_Phdr& segment, Bytes head);
  /// Calls `use` with a part of the file, which is read again only where `head`, its beginning, does not reach.
  template <class Use>
  void with_bytes(std::uint64_t offset, std::uint64_t bytes, Bytes head, const Use& use) const {
    if (offset <= head.size() && bytes <= head.size() - offset) return use(head.subspan(offset, bytes));
    use(Bytes(segments.file().read(offset, bytes)));
  }
};

void ElfLayout::Impl::read_program_headers(Bytes head) {
  std::vector<Elf64_Phdr> headers;
  with_bytes(header.e_phoff, program_headers_bytes(header), head,
             [&](Bytes bytes) { headers = program_headers_in(bytes); });
  for (const Elf64_Phdr& segment : headers) {
    if (segment.p_type != PT_LOAD) continue;
    segments.add({.vaddr = segment.p_vaddr,
                  .file_offset = segment.p_offset,
                  .file_bytes = segment.p_filesz,
                  .executable = (segment.p_flags & PF_X) != 0});
  }
  for (const Elf64_Phdr& segment : headers) take(segment, head);
}

void ElfLayout::Impl::take(const Elf64_Phdr& segment, Bytes head) {
  const bool is_table = segment.p_type == PT_DYNAMIC && segment.p_filesz <= kMaxDynamicBytes;
  if (is_table && !dynamic_segment) dynamic_segment = segment;
  if (segment.p_type == PT_INTERP && segment.p_filesz <= kMaxInterpreterBytes) {
    with_bytes(segment.p_offset, segment.p_filesz, head,
               [&](Bytes bytes) { interpreter.assign(bytes.begin(), std::find(bytes.begin(), bytes.end(), 0)); });
  }
  if (segment.p_type == PT_GNU_EH_FRAME) unwind_index_vaddr = segment.p_vaddr;
  if (segment.p_type == PT_NOTE && segment.p_filesz <= kMaxNoteBytes && build_id.empty()) {
    with_bytes(segment.p_offset, segment.p_filesz, head,
               [&](Bytes bytes) { build_id = build_id_in(bytes, segment.p_align); });
  }
}

ElfLayout::ElfLayout(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ElfLayout::ElfLayout(ElfLayout&&) noexcept = default;
ElfLayout& ElfLayout::operator=(ElfLayout&&) noexcept = default;
ElfLayout::~ElfLayout() = default;

Result<ElfLayout> ElfLayout::make(UniqueFd fd, const std::string& name) {
  auto impl = std::make_unique<Impl>(ElfSegments(std::move(fd)));
  // Plain reads, not a mapping: the file may shrink under our hands.
  std::array<std::uint8_t, kHeadBytes> buffer;
  const Bytes head(buffer.data(), impl->segments.file().read(0, buffer));
  impl->header = HAWK_TRY(check_header(head, name));
  impl->read_program_headers(head);
  return ElfLayout(std::move(impl));
}

std::string ElfLayout::build_id() const {
  if (!impl_->build_id.empty()) return hex_of(impl_->build_id);
  return hex_of(ElfSections(impl_->segments.file(), impl_->header).build_id());
}

std::optional<std::uint64_t> ElfLayout::file_offset_of(std::uint64_t vaddr) const {
  return impl_->segments.file_offset_of(vaddr);
}

std::optional<std::uint64_t> ElfLayout::vaddr_of(std::uint64_t file_offset) const {
  return impl_->segments.vaddr_of(file_offset);
}

std::vector<LoadSegment> ElfLayout::code() const { return impl_->segments.code(); }

std::optional<std::uint64_t> ElfLayout::code_bias(std::uint64_t file_offset, std::uint64_t bytes) const {
  return impl_->segments.code_bias(file_offset, bytes);
}

std::span<const std::uint8_t> ElfLayout::code_at(std::uint64_t vaddr, std::size_t max_bytes) const {
  return impl_->segments.code_at(vaddr, max_bytes);
}

int ElfLayout::fd() const { return impl_->segments.file().fd(); }

ElfLayout ElfLayout::without_file() const {
  auto copy = std::make_unique<Impl>(impl_->segments.without_file());
  copy->header = impl_->header;
  copy->interpreter = impl_->interpreter;
  copy->build_id = impl_->build_id;
  copy->dynamic_segment = impl_->dynamic_segment;
  copy->unwind_index_vaddr = impl_->unwind_index_vaddr;
  return ElfLayout(std::move(copy));
}

std::optional<std::uint64_t> ElfLayout::entry_vaddr() const {
  if (impl_->header.e_entry == 0) return std::nullopt;
  return impl_->header.e_entry;
}

std::string ElfLayout::interpreter() const { return impl_->interpreter; }

const ElfSegments& ElfLayout::segments() const { return impl_->segments; }
const Elf64_Ehdr& ElfLayout::header() const { return impl_->header; }
const std::optional<Elf64_Phdr>& ElfLayout::dynamic_segment() const { return impl_->dynamic_segment; }
const std::optional<std::uint64_t>& ElfLayout::unwind_index_vaddr() const { return impl_->unwind_index_vaddr; }

}  // namespace hawk
