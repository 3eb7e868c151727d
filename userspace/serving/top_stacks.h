#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "symbolizer/symbolizer.h"
#include "userspace/tables/counters.h"
#include "userspace/tables/snapshot.h"

namespace hawk {

/// A stack with many live bytes, as a series of metrics has it.
struct TopStack {
  std::string fingerprint;  ///< in hexadecimal; the same in every run
  std::string function;     ///< its deciding function
  Counters counters;
};

/// Those of a target.
struct TopStacks {
  std::string target;
  std::vector<TopStack> stacks;
};

/// The `count` stacks with most live bytes. Stacks with the same fingerprint are one.
std::vector<TopStack> top_stacks_of(const Snapshot& snapshot, Symbolizer& symbolizer, std::size_t count);

}  // namespace hawk
