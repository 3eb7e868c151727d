#pragma once

#include <string>

#include "userspace/base/result.h"

namespace hawk {

/// What a failed call of the system means to the user: "`what`: " and the text of errno `error`. Where it says that
/// descriptors or memory have run out, that is no fault of what we did it on: the code is kPrivilege, and the hint says
/// how to get more. Otherwise they are `exit_code` and `hint`.
tl::unexpected<Error> system_failure(ExitCode exit_code, const std::string& what, int error, std::string hint = {});

}  // namespace hawk
