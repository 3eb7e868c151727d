#pragma once

#include <string>

#include "userspace/tables/snapshot.h"

namespace hawk {

/// How to get the names of interpreted functions, if the target maps an interpreter that can provide them (CPython from
/// 3.12 on, Node.js); "" otherwise.
std::string interpreter_hint(const Snapshot& snapshot);

}  // namespace hawk
