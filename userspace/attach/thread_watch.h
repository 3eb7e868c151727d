#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "userspace/base/unique_fd.h"
#include "userspace/tables/thread_names.h"

namespace hawk {

/// The threads of a process and their names, as of each reading. A thread that begins and ends between two readings is
/// not seen, nor is a name that exists only between two.
class ThreadWatch {
 public:
  /// `directory`: "/proc/PID". At most that many names are kept.
  explicit ThreadWatch(const std::string& directory, std::size_t max_names = kMaxThreadNames);

  /// Reads the list of threads, the names of new ones and, in rotation, those of some others, so that very many threads
  /// do not make a reading slow. If the process has ended, the known threads remain.
  void read(std::uint64_t now_ns);

  const SharedTable<ThreadEvent>& events() const { return events_; }

 private:
  std::optional<std::string> name_of(int tid);
  void forget_ended(const std::vector<int>& ids, std::uint64_t now_ns);
  void read_name(int tid, std::uint64_t now_ns);

  UniqueFd process_;               ///< its directory in /proc, which is no other process's later
  UniqueFd threads_;               ///< the one in it that lists them
  std::map<int, UniqueFd> names_;  ///< open files of some threads' names
  std::map<int, std::string> present_;
  int next_again_ = 0;  ///< the thread from which on names are read again
  std::size_t names_left_;
  SharedTable<ThreadEvent> events_;
};

}  // namespace hawk
