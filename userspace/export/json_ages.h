#pragma once

#include <string>

#include "userspace/tables/snapshot.h"

namespace hawk {

/// Of a state that knows them, what is live of each age: classes that double from 1 ms on, and generations, where there
/// are several. As members of an object, each with a comma behind it; "" where nothing is known.
///
/// Of all stacks, with the trace's clock and its marks.
std::string ages_json(const Snapshot& snapshot);
/// Of one stack.
std::string ages_json(const Snapshot& snapshot, StackId stack);

/// In the same way, where they were counted: the sizes and lifetimes of the blocks of all stacks.
std::string lives_json(const Snapshot& snapshot);
/// Of one stack; and what of it is of which thread.
std::string lives_json(const Snapshot& snapshot, StackId stack);

}  // namespace hawk
