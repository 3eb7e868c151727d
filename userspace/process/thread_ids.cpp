#include "userspace/process/thread_ids.h"

#include <dirent.h>

#include <charconv>
#include <memory>
#include <string_view>

#include "userspace/base/owned.h"

namespace hawk {

std::vector<int> thread_ids(const std::string& directory) {
  std::vector<int> ids;
  const std::unique_ptr<DIR, Freer<closedir>> threads(::opendir((directory + "/task").c_str()));
  if (!threads) return ids;
  while (const dirent* entry = ::readdir(threads.get())) {
    const std::string_view name = entry->d_name;
    int id = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), id).ec == std::errc()) ids.push_back(id);
  }
  return ids;
}

}  // namespace hawk
