#pragma once

#include "tests/kernel/harness/ledger.h"

namespace hawk {

/// Stops a churn program; expects that all its blocks are intact.
void expect_unharmed(LedgerProgram& churn);

}  // namespace hawk
