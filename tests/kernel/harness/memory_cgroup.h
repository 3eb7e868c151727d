#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hawk {

/// A memory cgroup below that of this process (version 1) or next to it (version 2), in a separate mount, so that the
/// mounts of the system make no difference. Failures are thrown as std::runtime_error.
class MemoryCgroup {
 public:
  MemoryCgroup();
  MemoryCgroup(const MemoryCgroup&) = delete;
  MemoryCgroup& operator=(const MemoryCgroup&) = delete;
  /// Removes it. Those who were in it must have ended.
  ~MemoryCgroup();

  /// Moves us, and whom we start from here on, into it; and back.
  void enter() const;
  void leave() const;

  /// The words of a command that runs another in it.
  std::vector<std::string> runner() const;
  /// The number of its processes that the kernel has killed for lack of memory.
  std::uint64_t kills() const;

  /// Bytes that are charged to it.
  std::uint64_t usage() const;
  /// The most that were.
  std::uint64_t highest_usage() const;
  /// Lets it take no more than that.
  void limit(std::uint64_t bytes) const;

 private:
  void remove();

  std::string mount_point_;
  std::string home_;  ///< where we were
  std::string directory_;
  std::string usage_file_;
  std::string highest_usage_file_;
  std::string limit_file_;
  std::string events_file_;
};

}  // namespace hawk
