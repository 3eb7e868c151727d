#pragma once

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
  bool ends_at_zero = false;    ///< more may follow behind the terminator: no section header tells where it ends
  bool is_too_large = false;    ///< more than kMaxCallFrameBytes, and therefore not read
};

/// An ELF file for x86-64, opened for reading. Damaged or hostile files yield errors or missing answers, never crashes,
/// not even when they change while being read: nothing is mapped. Not thread-safe.
class ElfImage {
 public:
  /// Takes the descriptor. `name` is for messages only. Files for other processors: kPrivilege; others: kFile.
  static Result<ElfImage> make(UniqueFd fd, const std::string& name);

  ElfImage(ElfImage&&) noexcept;
  ElfImage& operator=(ElfImage&&) noexcept;
  ~ElfImage();

  /// Lower-case hex of the GNU build id note; empty when there is none.
  std::string build_id() const;
  /// Function symbols whose name is in `names`: .dynsym first, then .symtab (names found in .dynsym are not repeated).
  /// One entry per (name, address); compat versions such as cfree@GLIBC_2.2.5 included. .dynsym is read as the dynamic
  /// linker does: what its hash table does not find, nobody can call by name. In no particular order.
  std::vector<ElfFunction> functions(const NameSet& names) const;
  std::vector<ElfFunction> functions(std::span<const std::string_view> names) const {
    return functions(NameSet(names));
  }
  /// Functions that other files, or other parts of this one, call by a name that begins with `prefix`: neither local
  /// nor hidden.
  std::vector<ElfFunction> public_functions(std::string_view prefix) const;
  /// Whether the file has a .symtab with functions.
  bool has_symtab() const;
  /// By the PT_LOAD segments; nullopt outside of them.
  std::optional<std::uint64_t> file_offset_of(std::uint64_t vaddr) const;
  std::optional<std::uint64_t> vaddr_of(std::uint64_t file_offset) const;
  /// See ElfSegments::code_bias.
  std::optional<std::uint64_t> code_bias(std::uint64_t file_offset, std::uint64_t bytes) const;
  /// Its executable segments.
  std::vector<LoadSegment> code() const;
  /// Up to `max_bytes` (at most 64 KiB) bytes of an executable segment from `vaddr` on; fewer at the segment's end,
  /// empty outside. Valid as long as the image.
  std::span<const std::uint8_t> code_at(std::uint64_t vaddr, std::size_t max_bytes) const;
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
  /// ELF virtual address of code that the dynamic linker runs exactly once when it loads the file: DT_INIT, else the
  /// first DT_INIT_ARRAY entry; nullopt when the file has neither, or when another file may take the entry's place.
  std::optional<std::uint64_t> init_vaddr() const;
  /// Whether Go's linker made it; that leaves its sections' headers in place.
  bool is_go() const;
  /// Whether it is a shared library: it has a DT_SONAME. (PT_INTERP does not tell: libc.so.6 has one.)
  bool is_library() const;
  /// The open file; -1 once it has been closed.
  int fd() const;
  /// Closes the file. What has not been read by then is missing; addresses and offsets keep their answers.
  void close_file();
  /// Where the kernel enters the file as a program or as its dynamic linker; nullopt for other libraries.
  std::optional<std::uint64_t> entry_vaddr() const;
  /// PT_INTERP's content; empty for a static executable or a library.
  std::string interpreter() const;

 private:
  struct Impl;
  explicit ElfImage(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace hawk
