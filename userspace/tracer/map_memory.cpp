#include "userspace/tracer/map_memory.h"

#include <charconv>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>

#include "userspace/base/process_file.h"

namespace hawk {
namespace {

constexpr std::uint64_t kArenaType = 33;  // BPF_MAP_TYPE_ARENA, which Linux has from 6.9 on

/// The number behind `key` at the beginning of a line; nullopt: there is no such line.
std::optional<std::uint64_t> number_in(std::string_view text, std::string_view key) {
  const std::size_t at = text.starts_with(key) ? 0 : text.find(std::string("\n").append(key));
  if (at == std::string_view::npos) return std::nullopt;
  const std::size_t digits = text.find_first_of("0123456789", text.find(':', at));
  std::uint64_t number = 0;
  if (digits == std::string_view::npos) return std::nullopt;
  std::from_chars(text.data() + digits, text.data() + text.size(), number);
  return number;
}

}  // namespace

std::uint64_t map_memory_bytes() {
  std::uint64_t bytes = 0;
  std::set<std::uint64_t> counted;
  std::error_code error;
  for (std::filesystem::directory_iterator entry("/proc/self/fdinfo", error), end; !error && entry != end;
       entry.increment(error)) {
    const Result<std::string> info = read_whole_file(entry->path().string());
    if (!info) continue;  // that of the directory itself, which is closed again
    const std::optional<std::uint64_t> id = number_in(*info, "map_id:");
    if (!id || number_in(*info, "map_type:") == kArenaType || !counted.insert(*id).second) continue;
    bytes += number_in(*info, "memlock:").value_or(0);
  }
  return bytes;
}

}  // namespace hawk
