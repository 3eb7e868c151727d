#pragma once

#include <string>
#include <vector>

#include "tests/kernel/harness/ledger.h"
#include "tests/kernel/harness/trace.h"

namespace hawk {

/// What a ledger program has recorded, and what hawktrace reports of it.
struct TracedLedger {
  Ledger ledger;
  Report report;
};

/// Traces the ledger program `program` from its ledger's begin to its end.
TracedLedger trace_ledger(const std::string& program, Way way, const std::vector<std::string>& options = {});

/// The same of a program with more to say of how it is run; expects that it lives on, and ends by itself.
TracedLedger trace_to_end(const LedgerProgram::Setup& setup, Way way, const std::vector<std::string>& options = {});

}  // namespace hawk
