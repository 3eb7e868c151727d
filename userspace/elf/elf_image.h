#pragma once

#include <elf.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "userspace/base/result.h"
#include "userspace/base/unique_fd.h"
#include "userspace/elf/elf_function.h"
#include "userspace/elf/elf_layout.h"
#include "userspace/elf/elf_segments.h"
#include "userspace/elf/name_set.h"

namespace hawk {

/// Reading a byte of it takes six of memory. The largest programs known have 30 MiB.
inline constexpr std::uint64_t kMaxCallFrameBytes = std::uint64_t{64} << 20;

/// A section with call frame information.
struct CallFrameSection {
  std::vector<std::uint8_t> bytes;
  std::uint64_t vaddr = 0;      ///< ELF virtual address of the first byte
  bool is_debug_frame = false;  ///< .debug_frame, which is written otherwise than .eh_frame
  bool ends_at_zero = false;    ///< more may follow behind the terminator: no section header says where it ends
  bool is_too_large = false;    ///< more than kMaxCallFrameBytes, and therefore not read
};

/// An ELF file, and what its tables say: symbols, relocations, unwind tables. For processes without rights (study/). As
/// ElfLayout, it survives whatever the file holds. Not thread-safe.
class ElfImage : public ElfLayout {
 public:
  /// See ElfLayout::make.
  static Result<ElfImage> make(UniqueFd fd, const std::string& name);
  explicit ElfImage(ElfLayout layout);

  ElfImage(ElfImage&&) noexcept;
  ElfImage& operator=(ElfImage&&) noexcept;
  ~ElfImage();

  /// Function symbols whose name is in `names`: .dynsym first, then .symtab (names found in .dynsym are not repeated).
  /// One entry per (name, address); compat versions such as cfree@GLIBC_2.2.5 included. .dynsym is read as the dynamic
  /// linker does: what its hash table does not find cannot be called by name. In no particular order.
  std::vector<ElfFunction> functions(const NameSet& names) const;
  std::vector<ElfFunction> functions(std::span<const std::string_view> names) const {
    return functions(NameSet(names));
  }
  /// Functions that other files, or other parts of this one, call by a name that begins with `prefix`: neither local
  /// nor hidden.
  std::vector<ElfFunction> public_functions(std::string_view prefix) const;
  /// Whether the file has a .symtab with functions.
  bool has_symtab() const;
  /// Whether sections have headers: without, it is not known which there are.
  bool has_sections() const;
  /// See ElfSegments::read.
  std::vector<std::uint8_t> bytes_at(std::uint64_t vaddr, std::uint64_t wanted_bytes) const;
  std::size_t bytes_at(std::uint64_t vaddr, std::span<std::uint8_t> buffer) const;
  /// See ElfSegments::CodeSearch.
  ElfSegments::CodeSearch search_code(std::span<const std::uint8_t> bytes) const;
  /// Whether the unwinder's table says that the function which begins at `vaddr` handles no exceptions: neither catches
  /// nor cleans up. false also when the table has no such function or is not understood.
  bool handles_no_exceptions(std::uint64_t vaddr) const;
  /// .eh_frame, by its section header, else by PT_GNU_EH_FRAME; nullopt when the file has neither.
  std::optional<CallFrameSection> eh_frame() const;
  /// .debug_frame, which strip removes and debug files may have; nullopt when there is none or it is compressed.
  std::optional<CallFrameSection> debug_frame() const;
  /// Name of the symbol that the dynamic linker stores into the GOT slot at `slot_vaddr` (JUMP_SLOT and GLOB_DAT
  /// relocations); nullopt when there is no such relocation.
  std::optional<std::string_view> got_symbol(std::uint64_t slot_vaddr) const;
  /// ELF virtual address of the function that chooses, when the program starts, what the GOT slot at `slot_vaddr` leads
  /// to; nullopt: none does.
  std::optional<std::uint64_t> chooser_of(std::uint64_t slot_vaddr) const;
  /// ELF virtual address of code that the dynamic linker runs exactly once when it loads the file: DT_INIT, else the
  /// first DT_INIT_ARRAY entry; nullopt when the file has neither, or when another file may take the entry's place.
  std::optional<std::uint64_t> init_vaddr() const;
  /// Whether Go's linker made it; that leaves its sections' headers in place.
  bool is_go() const;
  /// Whether it is a shared library: it has a DT_SONAME. (PT_INTERP does not say: libc.so.6 has one.)
  bool is_library() const;

 private:
  class Sections;
  Sections sections() const;
  CallFrameSection call_frames(const Elf64_Shdr& section) const;

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hawk
