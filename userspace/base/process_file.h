#pragma once

#include <optional>
#include <string>

#include "userspace/base/result.h"
#include "userspace/base/unique_fd.h"

namespace hawk {

/// Opens a file of procfs or sysfs for reading; none: errno says why.
UniqueFd open_process_file(const std::string& path);
/// The same, below `directory` if the path is relative.
UniqueFd open_process_file_at(int directory, const std::string& path);

/// What is left to read of a small file; nullopt: errno says why it cannot be read.
std::optional<std::string> read_to_end(int fd);

/// The whole content of a small file such as those below /proc (whose size is not known before it is read).
/// Errors carry `exit_code` and the file's name.
Result<std::string> read_whole_file(const std::string& path, ExitCode exit_code = ExitCode::kFile);

}  // namespace hawk
