#pragma once

#include <libelf.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "symbolizer/byte_cursor.h"
#include "userspace/base/owned.h"
#include "userspace/base/unique_fd.h"

namespace hawk {

using ElfPtr = std::unique_ptr<Elf, Freer<elf_end>>;

/// An ELF image, with what it is read from. Everything libelf hands out lives as long as this does.
class ElfFile {
 public:
  /// Reads through `fd` alone: the file may be deleted or lie in another mount namespace. nullopt if it is no ELF file.
  /// Files up to 64 MiB are read with pread. Larger ones are mapped, because a copy of a gigabyte of debug information
  /// could get us, or the target, killed for memory. What is truncated of a mapped file reads as zeros
  /// (truncated_files.h).
  static std::optional<ElfFile> open(UniqueFd fd);
  /// The image that `bytes` are. nullopt if they are no ELF file.
  static std::optional<ElfFile> of_bytes(std::vector<char> bytes);

  Elf* elf() const { return elf_.get(); }
  int fd() const { return fd_.get(); }
  /// Lets go of the memory of a file that is mapped: what is asked again is read again, from the page cache as a rule.
  /// Otherwise all that was ever looked at of a file of gigabytes would count as our memory. Nothing happens to a file
  /// that was read, nor to decompressed sections.
  void release() const;
  /// Whether the file is mapped.
  bool is_mapped() const { return mapped_; }
  /// When it was opened.
  std::uint64_t size_bytes() const { return size_bytes_; }
  /// Whether `part` lies in a file that is mapped, so that it is no memory of ours after release().
  bool is_mapped(Bytes part) const;
  /// The content of the section called `name`, as it stands in the file; empty when there is none.
  Bytes section(const char* name) const;
  /// Raw bytes of the build id; empty when there is none.
  std::string build_id() const;
  /// Whether it carries DWARF of its own (a file that objcopy --only-keep-debug was made from does not).
  bool has_debug_info() const;
  /// Whether it carries a .symtab.
  bool has_symtab() const;

 private:
  ElfFile() = default;

  // The order matters: the image goes before what it reads from.
  UniqueFd fd_;
  bool mapped_ = false;
  std::uint64_t size_bytes_ = 0;
  std::vector<char> memory_;
  ElfPtr elf_;
};

}  // namespace hawk
