#pragma once

#include <string>

namespace hawk {

/// What a function does in a stack that allocates, for reports that fold what says nothing.
enum class FrameRole {
  kProgram,    ///< it may be the one that decides on what is allocated
  kLibrary,    ///< it passes on what others decide
  kAllocator,  ///< as before, and so does everything that it calls
};

/// The role of a frame of the demangled name `function`. Libraries: malloc and its kin with the allocators' internal
/// names, members of std, __gnu_cxx and __cxxabiv1, __cxa_*, and Rust's std, core and alloc crates with its __rust_*
/// allocation functions. Allocators: operator new and delete, global ones and those of a class, and a program's own
/// wrappers of malloc (allocator_wrappers.h).
///
/// Only the name counts, neither return type nor parameters nor template arguments: `std::string
/// render(std::vector<int>)` and `render<std::string>` are the program's. C library functions that allocate for their
/// caller (strdup, getline) are the program's too: they say what the memory is for.
FrameRole frame_role(const std::string& function);

}  // namespace hawk
