#pragma once

#include "userspace/base/result.h"

namespace hawk {

/// Returns when every program that runs now has come to its end: what they could reach before the call, and cannot any
/// more, nobody reads then. Takes the kernel some 15 ms. None of our programs that read tables of user space may sleep.
Result<void> wait_for_programs();

}  // namespace hawk
