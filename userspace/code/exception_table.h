#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "userspace/elf/elf_image.h"

namespace hawk {

/// Where exceptions go that come out of calls, by the unwinder's tables (.eh_frame, and what its records call the
/// language specific data area). The image must outlive it. Not thread-safe.
class ExceptionTable {
 public:
  explicit ExceptionTable(const ElfImage& image) : image_(image) {}

  enum class Goes : std::uint8_t {
    kOut,      ///< to the caller, or nowhere: this function does not handle it
    kTo,       ///< to `vaddr`, with the stack as it is after the call
    kUnknown,  ///< the tables are not understood
  };
  struct Way {
    Goes goes = Goes::kUnknown;
    std::uint64_t vaddr = 0;
  };
  /// Of the call that returns to `return_vaddr`.
  Way way_of(std::uint64_t return_vaddr);
  /// Where the function, or the part of one, begins that has this code; nullopt: no record says.
  std::optional<std::uint64_t> begin_of(std::uint64_t vaddr);
  /// How many bytes a function has that begins at `vaddr`; nullopt: no record says that one does.
  std::optional<std::uint64_t> bytes_from(std::uint64_t vaddr);

 private:
  /// A function's record.
  struct Function {
    std::uint64_t begin;
    std::uint64_t end;
    std::uint64_t handlers_vaddr;  ///< of its data; 0: it handles none
    bool is_understood;
  };
  void read();
  /// nullptr: none covers it.
  const Function* function_at(std::uint64_t vaddr) const;
  Way find_handler(const Function& function, std::uint64_t vaddr) const;

  const ElfImage& image_;
  bool is_read_ = false;
  bool is_whole_ = false;            ///< code without a record handles no exceptions
  std::vector<Function> functions_;  ///< by where they begin
};

}  // namespace hawk
