#pragma once

#include <cstddef>

#include "symbolizer/symbolizer.h"
#include "userspace/report/frame_list.h"
#include "userspace/screen/moment.h"
#include "userspace/screen/screen_line.h"

namespace hawk {

/// Everything about one stack: its numbers, and its calls from the caller of the allocator outwards. `rank`: its line
/// in the list. With `all_frames` no call is left out. Any number of lines.
ScreenLines stack_page(const Moment& moment, const StackRecord& stack, std::size_t rank, Symbolizer& symbolizer,
                       const RoleOfFunction& role_of, bool all_frames);

}  // namespace hawk
