#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "userspace/code/arch/x86_64/code_graph.h"

namespace hawk {

/// Which words of a function's frame its callees may change. From rsp upwards lie the arguments of a call that are
/// passed on the stack, and these are the callee's (System V AMD64 ABI, 3.2.2 and 3.2.3); how many there are does not
/// show. But a word that the function reads after a call, before it writes to it, is one on which it relies itself:
/// neither that nor one above it is an argument.
class ArgumentAreas {
 public:
  explicit ArgumentAreas(const CodeGraph& graph);

  /// At a call: the position of the lowest word that it leaves as it is (see StackState). At any other node: the lowest
  /// position there is.
  std::int64_t end_at(std::size_t node) const { return ends_[node]; }

 private:
  std::vector<std::int64_t> ends_;
};

}  // namespace hawk
