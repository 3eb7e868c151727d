#include "userspace/tracer/cpu_numbers.h"

#include <charconv>
#include <string>

#include "bpf/live/arena_layout.h"
#include "userspace/base/process_file.h"

namespace hawk {

std::uint32_t cpu_numbers_of(std::string_view list) {
  const std::size_t end = list.find_last_of("0123456789");
  if (end == std::string_view::npos) return 0;
  const std::size_t before = list.find_last_not_of("0123456789", end);
  const std::string_view last = list.substr(before == std::string_view::npos ? 0 : before + 1);
  std::uint32_t number = 0;
  const auto [stop, error] = std::from_chars(last.data(), last.data() + last.size(), number);
  return error == std::errc() && number < HAWK_MAX_CPUS ? number + 1 : 0;
}

std::uint32_t possible_cpu_numbers() {
  const Result<std::string> list = read_whole_file("/sys/devices/system/cpu/possible");
  const std::uint32_t numbers = list ? cpu_numbers_of(*list) : 0;
  return numbers != 0 ? numbers : HAWK_MAX_CPUS;
}

}  // namespace hawk
