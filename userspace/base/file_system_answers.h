#pragma once

#include <cstdint>

namespace hawk {

/// Whether the file system of the regular file `fd` (opened with O_PATH), which lies on `device`, answers within two
/// seconds when it is opened and read. Only file systems in user space (FUSE) are asked; the kernel's own always do.
///
/// A server that takes a request and never answers keeps whoever made it asleep beyond any signal. So a process of its
/// own asks, which holds nothing open but the file and is left behind if it does not come back. A file system that did
/// not answer once is not asked again. Thread-safe.
bool file_system_answers(int fd, std::uint64_t device);

}  // namespace hawk
