#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "userspace/tables/stack_frames.h"
#include "userspace/tables/word_numbers.h"

namespace hawk {

/// Which outer locations a stack has in common with one that came before it. The stacks of a program share most of
/// theirs.
class SharedFrames {
 public:
  struct Shared {
    std::size_t rank = 0;       ///< of the first stack that has them; 0: nothing is shared
    std::size_t locations = 0;  ///< so many, counted from the outermost
  };
  /// The most outer locations that `frames` share with those added before (of very many, with the later ones). Ranks
  /// are above 0.
  Shared add(std::size_t rank, const StackFrames& frames);

 private:
  /// A node stands for some outer locations, those of its parent and one more.
  enum class Node : std::uint32_t {};

  WordNumbers<Node> children_;                    ///< by parent and location
  std::vector<std::uint32_t> first_ranks_ = {0};  ///< by node; the first one stands for no location
};

}  // namespace hawk
