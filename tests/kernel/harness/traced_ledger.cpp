#include "tests/kernel/harness/traced_ledger.h"

#include <utility>

namespace hawk {

TracedLedger trace_ledger(const std::string& program, Way way, const std::vector<std::string>& options) {
  LedgerProgram traced({.program = program});
  Trace trace = Trace::attach(traced.pid(), way, options);
  Ledger ledger = traced.run();
  return {.ledger = std::move(ledger), .report = trace.finish()};
}

}  // namespace hawk
