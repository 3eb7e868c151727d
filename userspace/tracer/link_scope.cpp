#include "userspace/tracer/link_scope.h"

namespace hawk {

std::string_view link_scope_name(LinkScope scope) { return scope == LinkScope::kFile ? "file" : "process"; }

}  // namespace hawk
