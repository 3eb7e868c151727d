#pragma once

#include <cstdint>
#include <string>

namespace hawk {

/// A memory cgroup below our own (version 1) or beside it (version 2), in a mount of our own: where the system has them
/// mounted, and whether, makes no difference. What cannot be done is thrown as std::runtime_error.
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

  /// Bytes that are charged to it.
  std::uint64_t usage() const;
  /// Lets it take no more than that.
  void limit(std::uint64_t bytes) const;

 private:
  void remove();

  std::string mount_point_;
  std::string home_;  ///< where we were
  std::string directory_;
  std::string usage_file_;
  std::string limit_file_;
};

}  // namespace hawk
