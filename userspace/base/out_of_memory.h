#pragma once

#include <new>

#include "userspace/base/result.h"

namespace hawk {

/// What `work` returns, a Result; or an Error where it found no memory.
template <class Work>
auto or_out_of_memory(Work work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return fail(ExitCode::kPrivilege, "out of memory");
  }
}

}  // namespace hawk
