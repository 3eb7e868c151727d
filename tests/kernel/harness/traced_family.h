#pragma once

#include <nlohmann/json.hpp>
#include <sys/types.h>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "tests/kernel/faults/fault_plan.h"
#include "tests/kernel/harness/child_process.h"
#include "tests/kernel/harness/kernel_test.h"
#include "tests/support/scratch_directory.h"

namespace hawk {

/// What a process of ledgers/family.c says of itself, or what a report says of it.
struct OfProcess {
  std::uint64_t allocated_count = 0, allocated_bytes = 0, freed_count = 0, freed_bytes = 0, inherited = 0;
  auto operator<=>(const OfProcess&) const = default;
};
std::ostream& operator<<(std::ostream& to, const OfProcess& process);
/// By process id.
using Family = std::map<int, OfProcess>;

/// What the processes have written into the ledger at `path`, in that order: two may have had the same number.
std::vector<std::pair<int, OfProcess>> family_lines(const std::string& path);
/// The same by process id.
Family read_family(const std::string& path);
/// `target`: of a report.
OfProcess numbers_of(const nlohmann::json& target);
Family family_in(const nlohmann::json& report);
/// What the processes of a family say of themselves, and what a report says of them, whatever their ids are.
std::vector<OfProcess> said_by(const std::string& ledger);
std::vector<OfProcess> traced_in(const nlohmann::json& report);

/// hawktrace's words to trace a command: its report comes into the directory.
std::vector<std::string> command_words(Way way, const ScratchDirectory& directory,
                                       const std::vector<std::string>& command,
                                       const std::vector<std::string>& options);
/// The same of ledgers/family.c with these arguments.
std::vector<std::string> family_words(Way way, const ScratchDirectory& directory,
                                      const std::vector<std::string>& family, const std::vector<std::string>& options);

/// A hawktrace of which nothing may be left in the kernel when it has ended.
class RecordedHawktrace {
 public:
  explicit RecordedHawktrace(ChildProcess::Setup setup);
  ChildProcess* operator->() { return &hawktrace_; }
  /// Waits for its end, and expects that: no program, map or link, and no event.
  void expect_end();

 private:
  ChildProcess::Setup with_plan(ChildProcess::Setup setup) const;

  FaultPlan plan_;
  ChildProcess hawktrace_;
};

/// Traces a command to its end, and returns the report, which comes into the directory.
nlohmann::json trace_command(Way way, const ScratchDirectory& directory, const std::vector<std::string>& command,
                             const std::vector<std::string>& options = {});
/// The same of one that may be warned of.
nlohmann::json trace_with_warnings(Way way, const ScratchDirectory& directory, const std::vector<std::string>& command,
                                   const std::vector<std::string>& options);
/// The same of the family, with a libc of its own.
nlohmann::json trace_family(Way way, const ScratchDirectory& directory, const std::vector<std::string>& family,
                            const std::vector<std::string>& options = {});

/// Expects that the report is of so many processes, and of each what it says itself.
void expect_same(const Family& family, const Family& traced, std::size_t processes);
/// Traces a family that does what `how` says, and expects that the report is exact and the same.
void expect_family(Way way, const std::string& how, const std::string& count, std::size_t processes,
                   const std::vector<std::string>& options = {});

}  // namespace hawk
