// hawktrace where its own memory is limited, from far too little to nearly enough: an error that says so, or a report
// that is right or says what it lacks, and in any case a target that is unharmed.
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <sstream>
#include <stdexcept>

#include "tests/kernel/faults/tried_run.h"
#include "tests/kernel/harness/kernel_test.h"
#include "tests/kernel/harness/ledger.h"
#include "tests/kernel/harness/memory_cgroup.h"

namespace hawk {
namespace {

/// With and without the arena, which is a range of addresses far larger than the memory in it.
constexpr Way kLimitedWays[] = {Way::kSessionArena, Way::kMultiHash};

/// In percent of what is enough.
constexpr std::uint64_t kShares[] = {1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 85, 90, 94, 97, 99};

/// What `field` of /proc/PID/status says of a hawktrace that is not limited, in bytes.
std::uint64_t unlimited_need(Way way, const std::string& field) {
  LedgerProgram program({.program = "ends", .arguments = {"wait"}});
  const FaultPlan plan;
  Trace trace = Trace::attach(program.pid(), way, {"-q", "--max-stacks", "64", "--max-blocks", "4096"});
  std::ifstream status("/proc/" + std::to_string(trace.process().pid()) + "/status");
  std::uint64_t kibibytes = 0;
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(field)) std::istringstream(line.substr(field.size())) >> kibibytes;
  }
  if (kibibytes == 0) throw std::runtime_error("no " + field + " of hawktrace");
  program.run();
  trace.finish();
  return kibibytes * 1024;
}

/// The dynamic linker's, of a program for which there is no room.
bool is_end_of_loader(int status, const std::string& errors) {
  return (status == 127 && errors.find("error while loading shared libraries") != std::string::npos) ||
         status == 128 + SIGSEGV;
}

/// Runs hawktrace with that many bytes of address space, on a target and with a command.
bool try_with_addresses(std::uint64_t bytes, Way way) {
  SCOPED_TRACE(std::to_string(bytes >> 20) + " MiB of addresses");
  const FaultPlan plan;
  const Conditions conditions{.way = way,
                              .plan = plan,
                              .runner = {"/usr/bin/prlimit", "--as=" + std::to_string(bytes)},
                              .is_end_of_other = is_end_of_loader};
  return try_beside_target(conditions);
}

/// The same in a memory cgroup with such a limit, which the kernel keeps up by killing if nothing else helps.
bool try_in_cgroup(std::uint64_t bytes, Way way) {
  SCOPED_TRACE(std::to_string(bytes >> 20) + " MiB in its cgroup");
  const FaultPlan plan;
  const MemoryCgroup cgroup;
  cgroup.limit(bytes);
  const auto is_kill = [&](int status, const std::string&) { return status == 128 + SIGKILL && cgroup.kills() > 0; };
  return try_beside_target({.way = way, .plan = plan, .runner = cgroup.runner(), .is_end_of_other = is_kill});
}

/// How much memory that takes, the kernel's tables included.
std::uint64_t unlimited_usage(Way way) {
  const FaultPlan plan;
  const MemoryCgroup cgroup;
  EXPECT_TRUE(try_beside_target({.way = way, .plan = plan, .runner = cgroup.runner()}));
  return cgroup.highest_usage();
}

KERNEL_TEST_ON(limits, memory_of_a_cgroup, kLimitedWays) {
  const std::uint64_t enough = unlimited_usage(way);
  for (const std::uint64_t share : kShares) try_in_cgroup(enough / 100 * share, way);
  EXPECT_TRUE(try_in_cgroup(enough + (enough >> 2), way)) << "what it used when nothing was limited is not enough";
}

KERNEL_TEST_ON(limits, address_space, kLimitedWays) {
  const std::uint64_t enough = unlimited_need(way, "VmPeak:");
  for (const std::uint64_t share : kShares) try_with_addresses(enough / 100 * share, way);
  EXPECT_TRUE(try_with_addresses(enough + (enough >> 2), way)) << "what it used when nothing was limited is not enough";
}

}  // namespace
}  // namespace hawk
