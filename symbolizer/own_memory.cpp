#include "symbolizer/own_memory.h"

#include <unistd.h>

#include <array>
#include <cstdio>

#include "userspace/base/process_file.h"

namespace hawk {

OwnMemory own_memory() {
  static const UniqueFd statm = open_process_file("/proc/self/statm");
  std::array<char, 128> text{};
  if (TEMP_FAILURE_RETRY(::pread(statm.get(), text.data(), text.size() - 1, 0)) <= 0) return {};
  unsigned long file_pages = 0;
  unsigned long data_pages = 0;
  if (std::sscanf(text.data(), "%*u %*u %lu %*u %*u %lu", &file_pages, &data_pages) != 2) return {};
  const std::size_t page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return {file_pages * page, data_pages * page};
}

}  // namespace hawk
