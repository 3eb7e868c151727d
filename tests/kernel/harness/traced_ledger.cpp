#include "tests/kernel/harness/traced_ledger.h"

#include <gtest/gtest.h>

#include <utility>

namespace hawk {

TracedLedger trace_ledger(const std::string& program, Way way, const std::vector<std::string>& options) {
  LedgerProgram traced({.program = program});
  Trace trace = Trace::attach(traced.pid(), way, options);
  Ledger ledger = traced.run();
  return {.ledger = std::move(ledger), .report = trace.finish()};
}

TracedLedger trace_to_end(const LedgerProgram::Setup& setup, Way way, const std::vector<std::string>& options) {
  LedgerProgram program(setup);
  Trace trace = Trace::attach(program.pid(), way, options);
  TracedLedger traced = {.ledger = program.run(), .report = trace.finish()};
  program.close_input();
  EXPECT_EQ(program.wait(), 0) << "the target lives on";
  return traced;
}

}  // namespace hawk
