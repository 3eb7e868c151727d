#pragma once

#include <cstdint>
#include <string>

namespace hawk {

/// A memory cgroup below our own (version 1) or beside it (version 2). What cannot be done is thrown as
/// std::runtime_error.
class MemoryCgroup {
 public:
  MemoryCgroup();
  MemoryCgroup(const MemoryCgroup&) = delete;
  MemoryCgroup& operator=(const MemoryCgroup&) = delete;
  /// Removes it, once the kernel has let go of what was charged to it.
  ~MemoryCgroup();

  /// Moves us, and whom we start from here on, into it; and back.
  void enter() const;
  void leave() const;

  /// Bytes that are charged to it.
  std::uint64_t usage() const;
  /// Lets it take no more than that.
  void limit(std::uint64_t bytes) const;

 private:
  bool try_make(const std::string& parent, const std::string& usage_file, const std::string& limit_file);

  std::string parent_;  ///< where we were
  std::string directory_;
  std::string usage_file_;
  std::string limit_file_;
};

}  // namespace hawk
