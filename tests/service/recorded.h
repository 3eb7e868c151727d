#pragma once

#include <sys/types.h>

#include <string>

#include "tests/kernel/harness/ledger.h"

namespace hawk {

/// Expects that a recording of the daemon has, of that process, what its ledger says.
void expect_recorded(const std::string& recording, pid_t pid, const Ledger& ledger);

}  // namespace hawk
