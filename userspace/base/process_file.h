#pragma once

#include <string>

#include "userspace/base/result.h"

namespace hawk {

/// The whole content of a small file such as those below /proc (whose size is not known before it is read).
/// Errors carry `exit_code` and the file's name.
Result<std::string> read_whole_file(const std::string& path, ExitCode exit_code = ExitCode::kFile);

}  // namespace hawk
