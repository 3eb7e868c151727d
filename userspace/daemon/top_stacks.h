#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "symbolizer/symbolizer.h"
#include "userspace/tables/snapshot.h"

namespace hawk {

/// A line for each of the `count` stacks that hold most, with the functions that matter:
/// "6.34 MiB in 3,245 blocks: SessionStore::remember < Service::answer < worker".
std::vector<std::string> top_stack_lines(const Snapshot& snapshot, Symbolizer& symbolizer, std::size_t count);

}  // namespace hawk
