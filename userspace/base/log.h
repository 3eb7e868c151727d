#pragma once

#include <string_view>

#include "userspace/base/result.h"

namespace hawk {

/// How much is written to stderr besides errors. One process-wide setting, made once while options are read.
enum class Verbosity { kQuiet, kNormal, kVerbose };
void set_verbosity(Verbosity verbosity);
Verbosity verbosity();

/// "hawktrace: error: WHAT" and, when there is one, a second line "hint: HINT". Always written, always to stderr.
void log_error(const Error& error);
/// "hawktrace: warning: MESSAGE"; also with --quiet.
void log_warning(std::string_view message);
/// "hawktrace: MESSAGE"; not with --quiet.
void log_info(std::string_view message);
/// "hawktrace: MESSAGE"; only with --verbose.
void log_verbose(std::string_view message);

}  // namespace hawk
