#pragma once

#include <cstddef>
#include <string>

#include "userspace/screen/moment.h"
#include "userspace/screen/screen_line.h"
#include "userspace/screen/view_state.h"

namespace hawk {

/// What the keys and the columns mean.
ScreenLines help_page();

/// The last line of the screen: the keys that matter on this page, as many as fit into `columns`; the filter while it
/// is typed. `is_expression`: whether what was typed is a regular expression.
StyledLine key_line(const ViewState& state, bool is_expression, bool are_several, std::size_t columns);

/// Why no stack is listed, and which key shows some.
std::string empty_list_text(const Moment& moment, const ViewState& state);

}  // namespace hawk
