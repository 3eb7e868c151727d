#pragma once

#include <string_view>

namespace hawk {

/// How TraceInfo::attach_via ends where probes were for all processes that map a file.
inline constexpr std::string_view kForFiles = " for files";

}  // namespace hawk
