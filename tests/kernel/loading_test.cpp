// How the programs come into the kernel.
#include "tests/kernel/harness/kernel_test.h"
#include "tests/kernel/harness/ledger.h"

namespace hawk {
namespace {

/// Those for functions that may throw are loaded only for programs that have such.
void expect_loaded_at_once(Way way, const std::string& program_name) {
  LedgerProgram program({.program = program_name});
  Trace trace = Trace::attach(program.pid(), way, {"--verbose"});
  trace.finish();
  EXPECT_EQ(trace.process().errors().find("they are loaded one after the other"), std::string::npos)
      << "the kernel refuses what libbpf would give it";
}

KERNEL_TEST(loading, at_the_same_time) { expect_loaded_at_once(way, "every_function"); }

KERNEL_TEST(loading, at_the_same_time_for_throwing) { expect_loaded_at_once(way, "operators"); }

}  // namespace
}  // namespace hawk
