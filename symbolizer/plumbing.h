#pragma once

#include <string>

namespace hawk {

/// Whether a frame of the demangled name `function` is allocator or standard-library plumbing, which a report folds:
/// global operator new and delete, malloc and its kin with the allocators' internal names, members of std, __gnu_cxx
/// and
/// __cxxabiv1, __cxa_*, and Rust's std, core and alloc crates with its __rust_* allocation functions.
///
/// Only the name counts, neither return type nor parameters nor template arguments: `std::string
/// render(std::vector<int>)` and `render<std::string>` are the user's. C library functions that allocate for their
/// caller (strdup, getline) are not plumbing: they say what the memory is for.
bool is_plumbing(const std::string& function);

}  // namespace hawk
