#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "userspace/base/unique_fd.h"
#include "userspace/tables/snapshot.h"

namespace hawk {

/// The numbers in the line of a /proc/PID/status that begins with `key`; none: there is no such line.
std::vector<std::uint64_t> numbers_in_status(std::string_view status, std::string_view key);

/// A process's /proc/PID/status, which stays open.
class StatusFile {
 public:
  explicit StatusFile(int pid) : pid_(pid) {}
  /// Its content now; empty: it cannot be read, as of a process that has ended.
  std::string_view read();

 private:
  int pid_;
  UniqueFd file_;
  std::string content_;
};

/// The memory of a process according to its /proc/PID/status; nullopt: it has none any more.
std::optional<ProcessMemory> memory_in_status(std::string_view status);

}  // namespace hawk
