#pragma once

#include <string>
#include <string_view>

namespace hawk {

/// Where two unwinders part, and why each says that it ends.
struct Parting {
  std::string module;    ///< file name of the code at the last frame that they share; empty: there is no code
  std::string function;  ///< its symbol; empty: none is known
  std::string_view our_end;
  std::string_view libdw_end;
};

/// A difference that is understood. Every entry names a module and a function: none may cover what it was not made for.
struct AllowedDifference {
  std::string_view module, function, our_end, libdw_end;
  const char* cause;
};

/// nullptr: not explained yet.
const AllowedDifference* find_allowed(const Parting& parting);

}  // namespace hawk
