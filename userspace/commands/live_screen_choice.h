#pragma once

#include "userspace/commands/options.h"
#include "userspace/screen/live_screen.h"

namespace hawk {

/// Whether the live screen is to be shown: a report in text to a terminal, without a set end.
bool wants_live_screen(const Options& options, bool output_is_terminal);

/// The live screen with the given options.
Result<LiveScreen> make_live_screen(const Options& options);

}  // namespace hawk
