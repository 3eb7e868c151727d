#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "userspace/tables/snapshot.h"

namespace hawk {

/// Gives calls of one function one number, so that stacks with recursion are compared without names. A function is
/// identified by its name, or by the location if it has none.
class FunctionNumbers {
 public:
  std::uint32_t number_of(const Location& location, const std::string& function);

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

}  // namespace hawk
