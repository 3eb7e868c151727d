#pragma once

#include <memory>
#include <vector>

#include "userspace/base/result.h"

namespace hawk {

/// Which processes the kernel kills for lack of memory: its tracepoint oom:mark_victim says so of each, before it ends.
class OomVictims {
 public:
  /// Fails with kPrivilege. Those that are killed from here on are known.
  static Result<OomVictims> make();
  OomVictims(OomVictims&&) noexcept;
  OomVictims& operator=(OomVictims&&) noexcept;
  ~OomVictims();

  /// The numbers, in our pid namespace, of those that have been chosen since the last call: also of those that the
  /// kernel still is about to kill.
  std::vector<int> take();

 private:
  struct Parts;
  explicit OomVictims(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace hawk
