#pragma once

#include <sys/resource.h>

#include <cstddef>

namespace hawk {

/// Lets the process take so much memory more, as long as this lives: what goes beyond fails, as std::bad_alloc or as
/// the failure of the C function that needed it. For work on files whose need is not known before; without a
/// limit Linux promises memory that it does not have, and kills some process for it later. One at a time.
class MemoryBudget {
 public:
  /// At most half of what the machine has free.
  explicit MemoryBudget(std::size_t bytes);
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;
  ~MemoryBudget();

 private:
  rlimit before_ = {};
  bool is_set_ = false;
};

}  // namespace hawk
