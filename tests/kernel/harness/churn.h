#pragma once

#include "tests/kernel/harness/ledger.h"

namespace hawk {

/// Tells a churn program to stop; expects that all its blocks are in order.
void expect_unharmed(LedgerProgram& churn);

}  // namespace hawk
