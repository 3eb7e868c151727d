#include "userspace/attach/process_status.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "userspace/base/process_file.h"

namespace hawk {

std::vector<std::uint64_t> numbers_in_status(std::string_view status, std::string_view key) {
  std::vector<std::uint64_t> numbers;
  std::size_t at = status.find(key);
  while (at != std::string_view::npos && at != 0 && status[at - 1] != '\n') at = status.find(key, at + 1);
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

std::string_view StatusFile::read() {
  constexpr std::size_t kMost = 1 << 20;
  if (!file_) file_ = open_process_file(fmt::format("/proc/{}/status", pid_));
  if (!file_) return {};
  content_.resize(std::max<std::size_t>(content_.size(), 4096));
  ssize_t got = ::pread(file_.get(), content_.data(), content_.size(), 0);
  // A process can be in thousands of groups. The kernel makes the whole text anew for each read from its beginning.
  while (got == static_cast<ssize_t>(content_.size()) && content_.size() < kMost) {
    content_.resize(2 * content_.size());
    got = ::pread(file_.get(), content_.data(), content_.size(), 0);
  }
  return std::string_view(content_).substr(0, static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
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
