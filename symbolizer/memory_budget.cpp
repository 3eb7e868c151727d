#include "symbolizer/memory_budget.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>

#include "symbolizer/own_memory.h"
#include "userspace/base/process_file.h"

namespace hawk {
namespace {

/// "MemAvailable:  8061720 kB", proc_meminfo(5). The most there can be when unknown.
std::size_t free_bytes() {
  const Result<std::string> text = read_whole_file("/proc/meminfo");
  const std::size_t line = text ? text->find("MemAvailable:") : std::string::npos;
  unsigned long kib = 0;
  if (line == std::string::npos || std::sscanf(text->c_str() + line, "MemAvailable: %lu", &kib) != 1) return SIZE_MAX;
  return std::size_t{kib} << 10;
}

}  // namespace

MemoryBudget::MemoryBudget(std::size_t bytes) {
  const std::size_t now = own_memory().data_bytes;
  if (now == 0 || ::getrlimit(RLIMIT_DATA, &before_) != 0) return;
  const rlimit narrowed = {.rlim_cur = std::min<rlim_t>(before_.rlim_cur, now + std::min(bytes, free_bytes() / 2)),
                           .rlim_max = before_.rlim_max};
  is_set_ = ::setrlimit(RLIMIT_DATA, &narrowed) == 0;
}

MemoryBudget::~MemoryBudget() {
  if (is_set_) ::setrlimit(RLIMIT_DATA, &before_);
}

}  // namespace hawk
