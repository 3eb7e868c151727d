#pragma once

#include "userspace/commands/options.h"
#include "userspace/screen/live_screen.h"

namespace hawk {

/// Whether the live screen is what the user wants: a report in text to a terminal, with no end set.
bool wants_live_screen(const Options& options, bool output_is_terminal);

/// The live screen as the options ask for it.
Result<LiveScreen> make_live_screen(const Options& options);

}  // namespace hawk
