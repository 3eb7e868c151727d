#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "userspace/base/result.h"

namespace hawk {

/// The numbers in what pidof printed: "812 811 810". Empty: `text` is something else, or a single number.
std::vector<int> several_pids(std::string_view text);

/// The error of one who gave several processes, where one can be traced: lists them, the largest first, so that he can
/// choose.
tl::unexpected<Error> refuse_several_processes(const std::vector<int>& pids);

}  // namespace hawk
