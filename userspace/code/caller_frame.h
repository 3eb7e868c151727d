#pragma once

#include <cstdint>
#include <optional>

namespace hawk {

/// Where the caller's frame is when an instruction of a function has not run yet.
struct CallerFrame {
  std::uint32_t slot_words = 0;  ///< words from rsp up to the return address
  /// Words from rsp up to where the caller's rbp has been saved; nullopt: it is in rbp.
  std::optional<std::uint32_t> saved_rbp_words;
  bool operator==(const CallerFrame&) const = default;
};

}  // namespace hawk
