#pragma once

#include <string_view>

namespace hawk {

/// What a link, which keeps probes of a file in place, is for.
enum class LinkScope {
  kProcess,  ///< one process: each costs a trap of every other in that file, and strangers nothing
  kFile,     ///< all processes that map the file: it costs the same for any number, and strangers pay for traps
};

/// "process", "file".
std::string_view link_scope_name(LinkScope scope);

}  // namespace hawk
