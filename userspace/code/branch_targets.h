#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "userspace/code/exception_table.h"
#include "userspace/elf/elf_image.h"

namespace hawk {

/// What a call or jump leads to once PLT stubs are seen through.
struct CodeTarget {
  std::optional<std::uint64_t> vaddr;  ///< code in this file; nullopt: elsewhere, or unknown
  std::string name;                    ///< of the symbol of the GOT slot; empty: no GOT slot involved
  bool operator==(const CodeTarget&) const = default;
};

/// Resolves targets of one file and remembers the answers. The image must outlive it. Not thread-safe.
class BranchTargets {
 public:
  explicit BranchTargets(const ElfImage& image) : image_(image), exceptions_(image) {}

  const ElfImage& image() const { return image_; }
  ExceptionTable& exceptions() { return exceptions_; }
  /// Of a direct call or jump. A stub `[endbr64] [bnd] jmp *slot(%rip)` counts as its symbol.
  const CodeTarget& resolve(std::uint64_t vaddr);
  /// Of a call or jump through a GOT slot.
  CodeTarget resolve_slot(std::uint64_t slot_vaddr);
  /// Whether a call of it never returns: by name, or, where the runtime is linked in, by address.
  bool is_noreturn(const CodeTarget& target);
  /// Whether a call of it ends the program: of those that never return, by name or by address, the ones that do not
  /// throw.
  bool ends_program(const CodeTarget& target);
  /// Whether it is memset, memcpy or memmove: it returns its first argument, calls nothing and throws nothing. Which
  /// code these names stand for may be decided when the program starts.
  bool returns_first_argument(const CodeTarget& target);

 private:
  std::optional<std::uint64_t> stub_slot(std::uint64_t vaddr) const;
  std::optional<std::uint64_t> definition_of(std::string_view name);
  std::set<std::uint64_t> addresses_of(std::span<const std::string_view> names) const;

  const ElfImage& image_;
  ExceptionTable exceptions_;
  std::map<std::uint64_t, CodeTarget> targets_;
  std::map<std::string, std::optional<std::uint64_t>, std::less<>> definitions_;
  /// Of those in this file; looked for when first needed.
  std::optional<std::set<std::uint64_t>> noreturn_;
  std::optional<std::set<std::uint64_t>> ending_;
  std::optional<std::map<std::uint64_t, std::string>> copying_;
  std::optional<std::string> copying_chosen_by(std::uint64_t slot_vaddr);
  const std::map<std::uint64_t, std::string>& copying();
};

/// Whether the named function of libc or the C++ runtime never returns to its caller.
bool is_noreturn(std::string_view name);

}  // namespace hawk
