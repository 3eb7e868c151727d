#pragma once

#include "userspace/code/allocator_file.h"

namespace hawk {

/// Takes the plans from functions that rely on others of which the plans do not show all blocks (YieldPlan::relies_on).
void settle_reliance(AllocatorFile& allocator);

}  // namespace hawk
