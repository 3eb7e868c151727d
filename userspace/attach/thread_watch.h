#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "userspace/base/unique_fd.h"
#include "userspace/tables/thread_names.h"

namespace hawk {

/// Knows which threads a process has and what they are called, as of each reading. One that begins and ends between
/// two readings is not seen, nor is a name that lasts no longer.
class ThreadWatch {
 public:
  /// `directory`: "/proc/PID". So many names are kept, at most.
  explicit ThreadWatch(const std::string& directory, std::size_t max_names = kMaxThreadNames);

  /// Reads the list of threads, the names of new ones and those of some others, whose turn it is. What would take long
  /// with very many threads is spread over the readings. Of a process that is gone what is known stays.
  void read(std::uint64_t now_ns);

  const SharedTable<ThreadEvent>& events() const { return events_; }

 private:
  void forget_ended(const std::vector<int>& ids, std::uint64_t now_ns);
  void read_name(int tid, std::uint64_t now_ns);

  UniqueFd process_;  ///< its directory in /proc, which is no other process's later
  std::map<int, std::string> present_;
  int next_again_ = 0;  ///< the thread from which on names are read again
  std::size_t names_left_;
  SharedTable<ThreadEvent> events_;
};

}  // namespace hawk
