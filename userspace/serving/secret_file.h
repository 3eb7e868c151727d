#pragma once

#include <string>

#include "userspace/base/result.h"

namespace hawk {

/// The content of a file that the configuration names: a regular one of at most 1 MiB.
Result<std::string> read_small_file(const std::string& path);
/// The same, of one that users other than its owner and its group must not be able to read.
Result<std::string> read_secret_file(const std::string& path);
/// The token that such a file is: one line of at least 16 visible characters.
Result<std::string> read_token_file(const std::string& path);

}  // namespace hawk
