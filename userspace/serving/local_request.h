#pragma once

#include <string>

#include "userspace/base/result.h"

namespace hawk {

/// The answer of the daemon that listens at the unix socket `path` to "GET `what`" ("/status"), which waits for it a
/// few seconds. kNoTarget: no daemon listens there.
Result<std::string> get_over_socket(const std::string& path, const std::string& what);

}  // namespace hawk
