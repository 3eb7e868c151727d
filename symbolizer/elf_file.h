#pragma once

#include <elf.h>
#include <libelf.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "userspace/base/byte_cursor.h"
#include "userspace/base/owned.h"
#include "userspace/base/unique_fd.h"
#include "userspace/elf/elf_bytes.h"
#include "userspace/elf/elf_sections.h"

namespace hawk {

using ElfPtr = std::unique_ptr<Elf, Freer<elf_end>>;

/// An ELF image that libdw can read, with what it is read from. Where its sections lie and what they are called is read
/// by ElfSections, as everywhere else; the bytes of a section are those that libelf has, because libdw uses the same,
/// and decompresses them. Everything that is handed out lives as long as this does.
class ElfFile {
 public:
  /// Reads through `fd` alone: the file may be deleted or lie in another mount namespace. nullopt if it is no ELF file
  /// of 64 bits.
  /// Files up to 64 MiB are read with pread. Larger ones are mapped, because a copy of a gigabyte of debug information
  /// could get us, or the target, killed for memory. What is truncated of a mapped file reads as zeros
  /// (truncated_files.h).
  static std::optional<ElfFile> open(UniqueFd fd);
  /// The image that `bytes` are. nullopt if they are no ELF file of 64 bits.
  static std::optional<ElfFile> of_bytes(std::vector<char> bytes);

  /// For libdw.
  Elf* elf() const { return elf_.get(); }
  int fd() const { return file_->fd(); }
  /// Has libdw take the section for one without content.
  void hide_from_libdw(std::size_t number) const;
  /// Lets go of the memory of a file that is mapped: what is asked again is read again, from the page cache as a rule.
  /// Otherwise all that was ever looked at of a file of gigabytes would count as our memory. Nothing happens to a file
  /// that was read, nor to decompressed sections, nor to section headers.
  void release() const;
  /// Whether the file is mapped.
  bool is_mapped() const { return mapped_; }
  /// When it was opened.
  std::uint64_t size_bytes() const { return file_->size_bytes(); }
  /// Whether `part` lies in a file that is mapped, so that it is no memory of ours after release().
  bool is_mapped(Bytes part) const;
  /// Its section headers.
  const ElfSections& sections() const;
  /// The content of a section by its number; empty when it has none, or does not lie in the file.
  Bytes content(std::size_t number) const;
  /// The content of the section called `name`; empty when there is none. Decompressed once libdw has read it.
  Bytes section(std::string_view name) const;
  /// Bytes of the file as they stand there.
  std::vector<std::uint8_t> raw(std::uint64_t offset, std::uint64_t bytes) const { return file_->read(offset, bytes); }
  /// Raw bytes of the build id; empty when there is none.
  std::string build_id() const;
  /// Whether it carries DWARF of its own (a file that objcopy --only-keep-debug was made from does not).
  bool has_debug_info() const;
  /// Whether it carries a .symtab.
  bool has_symtab() const { return sections().has_type(SHT_SYMTAB); }

 private:
  ElfFile() = default;
  bool begin(ElfPtr elf);
  std::optional<Elf64_Ehdr> header() const;

  // The order matters: the image goes before what it reads from.
  std::unique_ptr<ElfBytes> file_;  ///< which the sections refer to
  bool mapped_ = false;
  std::vector<char> memory_;
  ElfPtr elf_;
  mutable std::optional<ElfSections> sections_;  ///< once they have been asked for
};

}  // namespace hawk
