#pragma once

#include "userspace/commands/command_line.h"
#include "userspace/traces/dump_triggers.h"

namespace hawk {

/// The rows --dump-allocated, --dump-growth and --dump-peak.
void add_dump_rows(OptionRows& rows, DumpOptions& options, const char* group);

}  // namespace hawk
