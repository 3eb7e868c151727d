#include "userspace/attach/process_status.h"

#include <fmt/core.h>

#include <charconv>

namespace hawk {

std::vector<std::uint64_t> numbers_in_status(std::string_view status, std::string_view key) {
  std::vector<std::uint64_t> numbers;
  std::size_t at = status.starts_with(key) ? 0 : status.find(fmt::format("\n{}", key));
  if (at == std::string_view::npos) return numbers;
  at = status.find(':', at) + 1;
  const std::string_view line = status.substr(at, status.find('\n', at) - at);
  const char* next = line.data();
  const char* const end = line.data() + line.size();
  while (next != end) {
    std::uint64_t number = 0;
    const auto [parsed, error] = std::from_chars(next, end, number);
    if (error == std::errc()) numbers.push_back(number);
    next = error == std::errc() ? parsed : next + 1;
  }
  return numbers;
}

std::optional<ProcessMemory> memory_in_status(std::string_view status) {
  constexpr std::uint64_t kKib = 1024;
  const std::vector<std::uint64_t> resident = numbers_in_status(status, "VmRSS");
  const std::vector<std::uint64_t> anonymous = numbers_in_status(status, "RssAnon");
  const std::vector<std::uint64_t> swapped = numbers_in_status(status, "VmSwap");
  if (resident.empty() || anonymous.empty() || swapped.empty()) return std::nullopt;
  return ProcessMemory{.resident_bytes = resident[0] * kKib,
                       .anonymous_bytes = anonymous[0] * kKib,
                       .swapped_bytes = swapped[0] * kKib,
                       .live_bytes = 0};
}

}  // namespace hawk
