#pragma once

#include <string_view>

#include "userspace/base/result.h"

namespace hawk {

/// How much is written to stderr besides errors. One process-wide setting, made once while options are read.
enum class Verbosity { kQuiet, kNormal, kVerbose };
void set_verbosity(Verbosity verbosity);
Verbosity verbosity();

// Messages go to stderr and never fail: one that stderr does not take (closed, full, its reader gone or asleep) is
// lost, and the trace goes on. What they quote may come from anywhere: control characters in it, a newline included,
// and what is no UTF-8 are replaced (printable.h). One message is one line.

/// "hawktrace: error: WHAT", the details and, when there is one, a last line "hint: HINT". Always written, always to
/// stderr.
void log_error(const Error& error) noexcept;
void log_error(std::string_view what, std::string_view hint) noexcept;
/// "hawktrace: warning: MESSAGE"; also with --quiet.
void log_warning(std::string_view message) noexcept;
/// "hawktrace: MESSAGE"; not with --quiet.
void log_info(std::string_view message) noexcept;
/// "hawktrace: MESSAGE"; only with --verbose.
void log_verbose(std::string_view message) noexcept;

}  // namespace hawk
