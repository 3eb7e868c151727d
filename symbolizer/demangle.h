#pragma once

#include <string>
#include <string_view>

namespace hawk {

/// The source-level name of a linker symbol: C++ (Itanium ABI), Rust's legacy scheme (without its hash) and Rust v0, as
/// c++filt prints them. Any other text is returned unchanged, and so is a name whose readable form passes 1 MiB: a
/// short mangled name can stand for an exponentially long one.
std::string demangle(std::string_view symbol);

}  // namespace hawk
