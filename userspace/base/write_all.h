#pragma once

#include <string_view>

namespace hawk {

/// Writes all of `bytes`; returns 0, or errno of the write that failed. Waits where the descriptor is non-blocking, as
/// a stdout shared with an event loop may be. Safe in a signal handler.
int write_all(int fd, std::string_view bytes);

}  // namespace hawk
