#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "userspace/code/exception_table.h"
#include "userspace/code/function_walk.h"
#include "userspace/elf/elf_image.h"

namespace hawk {

/// What is in all of a file's code, its direct jumps and calls above all. What it is given must outlive it. Not
/// thread-safe.
class CodeScan {
 public:
  CodeScan(const ElfImage& image, ExceptionTable& table) : image_(image), table_(table) {}

  /// Whether code outside `function` may jump to, or call, one of its instructions but the first, by all that is known.
  /// `walk`, which has steps, knows the function's own parts that lie elsewhere.
  bool may_enter(FunctionExtent function, const FunctionWalk& walk);

  /// Whether a public symbol says that another function begins in its middle: who knows it calls it.
  bool has_function_inside(FunctionExtent function);

  /// Whether it may have restartable sequences (rseq), by the signature that precedes their abort handlers. Code that
  /// registers them passes the signature to the kernel in a register, which is not such a handler.
  bool may_have_abort_handlers();

 private:
  struct Jump {
    std::uint64_t target;
    std::uint64_t from;
  };
  void scan();
  void scan_piece(const LoadSegment& segment, std::uint64_t start, std::span<const std::uint8_t> code);
  /// What looks like a jump may be a part of an instruction, or of two.
  bool is_instruction(std::uint64_t vaddr) const;

  const ElfImage& image_;
  ExceptionTable& table_;
  bool is_scanned_ = false;
  bool has_abort_handlers_ = false;
  std::optional<std::vector<std::uint64_t>> functions_;  ///< where they begin, sorted; looked for when first needed
  std::vector<Jump> near_jumps_;  ///< with 32 bits of distance, and whatever else looks like one; sorted by target
};

}  // namespace hawk
