#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bpf/unwind/ends.h"
#include "userspace/base/ids.h"
#include "userspace/tables/children.h"
#include "userspace/tables/counters.h"
#include "userspace/tables/losses.h"

namespace hawk {

/// The frames of a stack, caller of the allocator first, where the kernel keeps them: as numbers of words, of which a
/// program has few. Neither ever changes, and both stay for as long as the tracer: a copy of the frames of 100,000
/// stacks would cost more time than all else that is read of them.
class FrameWords {
 public:
  FrameWords() = default;
  /// `words`: by number, of all stacks.
  FrameWords(std::span<const std::uint32_t> numbers, const std::uint64_t* words)
      : numbers_(numbers.data()), words_(words), size_(static_cast<std::uint32_t>(numbers.size())) {}

  std::span<const std::uint32_t> numbers() const { return {numbers_, size_}; }
  /// A return address, or with HAWK_FRAME_INTERRUPTED the address of an instruction that a signal interrupted.
  std::uint64_t word(std::uint32_t number) const { return words_[number]; }

 private:
  const std::uint32_t* numbers_ = nullptr;
  const std::uint64_t* words_ = nullptr;
  std::uint32_t size_ = 0;
};

/// A stack that the kernel interned since the drain before; or kNoStack, which each program has anew.
struct NewStack {
  StackId id = kNoStack;
  hawk_end end = HAWK_END_OUTERMOST;
  bool guessed = false;  ///< partly walked along frame pointers, which nothing proves
  int tid = 0;           ///< of the thread whose it is alone, in our pid namespace; 0: of all
  FrameWords frames = {};
};

/// The kernel's counters of one stack since the trace began, summed over CPUs. While the target runs, freed may be more
/// than allocated: see Drain::read.
struct StackCounters {
  StackId id = kNoStack;
  Counters counters;
};

/// What one drain read, as plain values: the end of the kernel's map layouts.
struct Drained {
  std::uint32_t exec_epoch = 0;  ///< which program of the process all this is of: 0 until the first exec
  std::vector<NewStack> new_stacks;
  std::vector<StackCounters> counters;  ///< every stack with at least one allocation
  /// Freed bytes of all its stacks, read before all else: at no later instant had less been freed. What was allocated
  /// when the next drain is made, less this, is more than was live at any instant in between.
  std::uint64_t freed_bytes_before = 0;
  std::uint64_t frees_of_untraced = 0;
  Losses losses;
  UntracedChildren children;
};

}  // namespace hawk
