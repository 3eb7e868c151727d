// Files that the target, or whoever may write where it lies, changes or replaces under hawktrace's hands.
#include <chrono>
#include <filesystem>

#include "tests/kernel/harness/compare.h"
#include "tests/kernel/harness/kernel_test.h"
#include "tests/kernel/harness/ledger.h"

namespace hawk {
namespace {

/// hawktrace opens nothing but files, waits for nobody, and ends when it is asked to.
KERNEL_TEST(hostile_files, names_that_became_pipes_and_links) {
  const ScratchDirectory directory;
  LedgerProgram program({.program = "renamed_mappings", .arguments = {directory.path("")}});
  Trace trace = Trace::attach(program.pid(), way);
  const Ledger ledger = program.run();
  EXPECT_EQ(ledger.values.at("opened_pipes"), 0u);
  expect_equal(trace.finish(), ledger);
}

}  // namespace
}  // namespace hawk
