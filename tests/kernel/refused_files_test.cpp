// Files into which the kernel lets no probe.
#include <filesystem>
#include <regex>
#include <stdexcept>

#include "tests/kernel/harness/compare.h"
#include "tests/kernel/harness/kernel_test.h"
#include "tests/kernel/harness/ledger.h"
#include "tests/kernel/harness/return_probe.h"

namespace hawk {
namespace {

/// A library in a directory of its own, without probes on it.
std::string copy_of(const std::string& library, const ScratchDirectory& directory) {
  std::string copy = directory.path(std::filesystem::path(library).filename());
  std::filesystem::copy_file(library, copy);
  return copy;
}

/// Where hawktrace probes a function of that file.
std::uint64_t probed_offset(const LedgerProgram::Setup& setup, const std::string& path, Way way) {
  LedgerProgram program(setup);
  Trace trace = Trace::attach(program.pid(), way, {"--verbose"});
  trace.finish();
  const std::string errors = trace.process().errors();
  std::smatch found;
  if (!std::regex_search(errors, found, std::regex("probe [^ ]+ in " + path + " at 0x([0-9a-f]+)"))) {
    throw std::runtime_error("no probe in " + path + ": " + errors);
  }
  return std::stoull(found[1], nullptr, 16);
}

KERNEL_TEST(refused_files, one_of_two) {
  const ScratchDirectory directory;
  const std::string library = copy_of(ledger_path("libcounting_allocator.so"), directory);
  const LedgerProgram::Setup setup = {.program = "idle_allocator", .arguments = {library}};
  const CountedProbe other(library, probed_offset(setup, library, way));
  LedgerProgram program(setup);
  Trace trace = Trace::attach(program.pid(), way);
  const Ledger ledger = program.run();
  const Report report = trace.finish();
  EXPECT_FALSE(report.exact);
  EXPECT_GT(report.losses.at("functions_not_probed"), 0u);
  Numbers all;
  for (const auto& [function, numbers] : ledger.sites) all += numbers;
  EXPECT_EQ(report.totals, all) << "the other file's functions are probed";
  const std::string errors = trace.process().errors();
  EXPECT_NE(errors.find("in " + library + " are not probed: attach"), std::string::npos) << errors;
}

KERNEL_TEST(refused_files, the_only_one) {
  const ScratchDirectory directory;
  const std::string library = copy_of("/usr/lib/x86_64-linux-gnu/libc.so.6", directory);
  const LedgerProgram::Setup setup = {.program = "every_function",
                                      .environment = {{"LD_LIBRARY_PATH", directory.path("")}}};
  const CountedProbe other(library, probed_offset(setup, library, way));
  LedgerProgram program(setup);
  ChildProcess hawktrace(
      {.argv = {HAWKTRACE_PATH, "-p", std::to_string(program.pid()), "--attach-via", attach_via(way)}});
  EXPECT_EQ(hawktrace.wait(), 4);
  const std::string errors = hawktrace.errors();
  EXPECT_NE(errors.find("error: " + library + ": attach"), std::string::npos) << errors;
  EXPECT_NE(errors.find("hint: "), std::string::npos) << errors;
}

}  // namespace
}  // namespace hawk
