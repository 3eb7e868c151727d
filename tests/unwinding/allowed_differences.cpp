#include "tests/unwinding/allowed_differences.h"

#include <algorithm>
#include <array>

#include "tests/unwinding/libdw_unwinder.h"

namespace hawk {
namespace {

/// What the unwinders mean by an end is made the same in LibdwUnwinder, where libdw's two habits are described.
constexpr std::array<AllowedDifference, 1> kAllowed = {{
    {.module = "ld-linux-x86-64.so.2",
     .function = LibdwUnwinder::kEntryPoint,
     .our_end = "outermost_frame",
     .libdw_end = "not covered",
     .cause =
         "Debian's ld.so calls the libraries' constructors from its entry point, which has no call frame information. "
         "All frames are equal; nothing is further out, and only our tables know that"},
}};

bool is_about(const AllowedDifference& allowed, const Parting& parting) {
  return allowed.module == parting.module && allowed.function == parting.function &&
         allowed.our_end == parting.our_end && allowed.libdw_end == parting.libdw_end;
}

}  // namespace

const AllowedDifference* find_allowed(const Parting& parting) {
  const auto found = std::ranges::find_if(
      kAllowed, [&parting](const AllowedDifference& allowed) { return is_about(allowed, parting); });
  return found == kAllowed.end() ? nullptr : &*found;
}

}  // namespace hawk
