#pragma once

#include <array>
#include <string_view>

namespace hawk {

/// Behind which builds of jemalloc have its functions, if not under the names of C.
inline constexpr std::array<std::string_view, 4> kJemallocPrefixes = {"je_", "jemalloc_", "_rjem_", "rje_"};

}  // namespace hawk
