#include "userspace/process/numbered_entries.h"

#include <dirent.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <string_view>

#include "userspace/base/owned.h"

namespace hawk {

std::vector<int> numbered_entries(UniqueFd directory) {
  std::vector<int> numbers;
  if (!directory) return numbers;
  const std::unique_ptr<DIR, Freer<closedir>> entries(::fdopendir(directory.get()));
  if (!entries) return numbers;
  directory.release();
  while (const dirent* entry = ::readdir(entries.get())) {
    const std::string_view name = entry->d_name;
    int number = 0;
    const std::from_chars_result parsed = std::from_chars(name.data(), name.data() + name.size(), number);
    if (parsed.ec == std::errc() && parsed.ptr == name.data() + name.size() && number > 0) numbers.push_back(number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

}  // namespace hawk
