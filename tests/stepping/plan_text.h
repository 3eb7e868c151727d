#pragma once

#include <string>

#include "userspace/code/allocator_file.h"

namespace hawk::testing {

/// "+0x157 yield if ne: result rax, size rbx, return address at 4", and so on; a line for each point.
std::string plan_text(const AllocatorFunction& function);

}  // namespace hawk::testing
