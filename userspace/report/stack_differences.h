#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "userspace/report/frame_list.h"

namespace hawk {

/// For each of `stacks`, which have the same name, the text to append to its name: the first call in which not all of
/// them are equal, and where that does not do, others further out, at most `most_calls` of them. Of a call, the
/// distinguishing part is shown: its function, the line, the address. " < red" is the function's caller, " < … left < …
/// one" are callers further out, "  cache.cpp:22" is where the function itself is, " (PyList_New)" what the interpreter
/// did. "" where nothing differs.
std::vector<std::string> distinguish_stacks(const std::vector<FrameList>& stacks, std::size_t most_calls);

}  // namespace hawk
