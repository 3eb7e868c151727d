#pragma once

#include <optional>
#include <string>
#include <vector>

#include "userspace/base/result.h"
#include "userspace/base/unique_fd.h"

namespace hawk {

/// The directory of one process below /proc, held open: what is read through it is of this process or fails, even when
/// another has its number by then.
class ProcDirectory {
 public:
  /// The content of a small file; nullopt: the process has ended, or it may not be read.
  std::optional<std::string> read(const char* file) const;
  /// Where a link leads, as the process sees it.
  std::optional<std::string> link(const char* file) const;
  /// The threads that live.
  std::vector<int> threads() const;

 private:
  friend class ProcRoot;
  explicit ProcDirectory(UniqueFd directory) : directory_(std::move(directory)) {}
  UniqueFd directory_;
};

/// /proc, or what stands for it in a test.
class ProcRoot {
 public:
  static Result<ProcRoot> open(const std::string& path = "/proc");

  /// The numbers of all processes, ascending. Some may have ended by the time they are looked at.
  std::vector<int> pids() const;
  /// nullopt: there is no such process.
  std::optional<ProcDirectory> process(int pid) const;
  /// A file that is no process's: "self/mountinfo".
  std::optional<std::string> read(const char* file) const;

 private:
  explicit ProcRoot(UniqueFd directory) : directory_(std::move(directory)) {}
  UniqueFd directory_;
};

}  // namespace hawk
