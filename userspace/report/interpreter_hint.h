#pragma once

#include <string>

#include "userspace/tables/snapshot.h"

namespace hawk {

/// How to have the functions named that an interpreter runs, if the target maps one that can name them (CPython
/// from 3.12 on, Node.js); "" otherwise.
std::string interpreter_hint(const Snapshot& snapshot);

}  // namespace hawk
