#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "userspace/base/result.h"
#include "userspace/base/unique_fd.h"
#include "userspace/elf/elf_segments.h"

namespace hawk {

/// An ELF file for x86-64, opened for reading, as far as its header, its program headers and its build id go: which
/// file it is, and where its code lies. That is little enough to be read by a process with rights; all else is read by
/// ElfImage. Damaged or hostile files yield errors or missing answers, never crashes, not even when they change while
/// being read: nothing is mapped. Not thread-safe.
class ElfLayout {
 public:
  /// Takes the descriptor. `name` is for messages only. Files for other processors: kPrivilege; others: kFile.
  static Result<ElfLayout> make(UniqueFd fd, const std::string& name);

  ElfLayout(ElfLayout&&) noexcept;
  ElfLayout& operator=(ElfLayout&&) noexcept;
  ~ElfLayout();

  /// Lower-case hex of the GNU build id note; empty when there is none.
  std::string build_id() const;
  /// By the PT_LOAD segments; nullopt outside of them.
  std::optional<std::uint64_t> file_offset_of(std::uint64_t vaddr) const;
  std::optional<std::uint64_t> vaddr_of(std::uint64_t file_offset) const;
  /// See ElfSegments::code_bias.
  std::optional<std::uint64_t> code_bias(std::uint64_t file_offset, std::uint64_t bytes) const;
  /// Its executable segments.
  std::vector<LoadSegment> code() const;
  /// Up to `max_bytes` (at most 64 KiB) bytes of an executable segment from `vaddr` on; fewer at the segment's end,
  /// empty outside. Valid as long as the object.
  std::span<const std::uint8_t> code_at(std::uint64_t vaddr, std::size_t max_bytes) const;
  /// The open file; -1: there is none.
  int fd() const;
  /// A copy that nothing can be read of; addresses and offsets have the same answers.
  ElfLayout without_file() const;
  /// Where the kernel enters the file as a program or as its dynamic linker; nullopt for other libraries.
  std::optional<std::uint64_t> entry_vaddr() const;
  /// PT_INTERP's content; empty for a static executable or a library.
  std::string interpreter() const;

 protected:
  const ElfSegments& segments() const;
  const Elf64_Ehdr& header() const;
  /// The first PT_DYNAMIC of sane size, and the last PT_GNU_EH_FRAME.
  const std::optional<Elf64_Phdr>& dynamic_segment() const;
  const std::optional<std::uint64_t>& unwind_index_vaddr() const;

 private:
  struct Impl;
  explicit ElfLayout(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace hawk
