#include "userspace/report/function_numbers.h"

#include <fmt/core.h>

namespace hawk {

std::uint32_t FunctionNumbers::number_of(const Location& location, const std::string& function) {
  const auto next = static_cast<std::uint32_t>(numbers_.size());
  if (!function.empty()) return numbers_.try_emplace(function, next).first->second;
  const std::int64_t module = location.module ? static_cast<std::int64_t>(*location.module) : -1;
  return numbers_.try_emplace(fmt::format("{} {:#x}", module, location.address), next).first->second;
}

}  // namespace hawk
