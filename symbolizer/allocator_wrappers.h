#pragma once

#include <string_view>

namespace hawk {

/// Whether `name`, a function's qualified name without parameters, is that of a program's or library's own way to the
/// allocator: a function that does little but call it, or an allocator of its own that takes its memory there. What
/// such a function calls is part of it.
///
/// A table of those that are in wide use, and a rule for names that can hardly mean anything else: "xmalloc",
/// "safe_realloc", "ngx_calloc_aligned". Names that say what the memory is for ("buffer_alloc", "strdup") are none.
bool is_allocator_wrapper(std::string_view name);

/// Whether `name` is that of a function which allocates objects of any type, and may run code of the program's before
/// (a garbage collection).
bool is_object_allocator(std::string_view name);

}  // namespace hawk
