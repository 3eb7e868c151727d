#pragma once

#include <cstdint>

#include "userspace/base/unique_fd.h"

namespace hawk {

/// Who reads a regular file.
enum class ReadBy {
  kKernel,  ///< its file system is the kernel's own, and always answers
  kCopier,  ///< its file system is in user space (FUSE): it has been copied
  kNone,    ///< that file system does not answer, or the file is too large to be copied; errno says which
};

/// Finds out which way to read the regular file `fd` (opened with O_PATH), which lies on `device`; `copy` becomes the
/// copy, in memory.
///
/// A server that takes a request and never answers keeps the process that made it asleep beyond any signal. So only a
/// process of its own opens and reads such a file, which holds nothing else open and is left behind if it gets no
/// further for two seconds; ten seconds in sum are all that such files may take. A file system that did not answer once
/// is not asked again. Thread-safe.
ReadBy reader_of(int fd, std::uint64_t device, UniqueFd& copy);

}  // namespace hawk
