#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/kernel/harness/untraced.h"

namespace hawk {

/// The four numbers that are compared, of a function or of the whole program.
struct Numbers {
  std::uint64_t allocated_bytes = 0;
  std::uint64_t allocated_count = 0;
  std::uint64_t freed_bytes = 0;
  std::uint64_t freed_count = 0;

  Numbers& operator+=(const Numbers& other);
  bool operator==(const Numbers&) const = default;
};
std::ostream& operator<<(std::ostream& to, const Numbers& numbers);

/// The direct caller of the allocator, and the return addresses from there outwards.
using NotedStack = std::pair<std::string, std::vector<std::uint64_t>>;

/// What a ledger program wrote down: the truth.
struct Ledger {
  std::map<std::string, Numbers> sites;          ///< by function
  std::map<std::string, std::uint64_t> losses;   ///< by name in the JSON; all others must be zero
  std::map<std::string, std::uint64_t> values;   ///< for the tests; "stacks" and "untraced_frees" are always checked
  std::map<std::string, std::uint64_t> foreign;  ///< by function: allocations that were also freed
  std::set<NotedStack> stacks;                   ///< of functions that note them: all that they were called with
  std::optional<Numbers> totals;  ///< of everything in the process, known to ledgers/counting_allocator.c only
};

/// A running ledger program (tests/kernel/ledgers/ledger.h has its side of the protocol). At the end it is run once
/// more, alone, and its output and exit status must be the same (untraced.h).
class LedgerProgram : public ChildProcess {
 public:
  struct Setup {
    std::string program;  ///< its name in tests/kernel/ledgers, or a path
    std::vector<std::string> arguments = {};
    std::map<std::string, std::string> environment = {};
    std::function<void()> prepare = [] {};  ///< makes the files that it uses up; called before each run
  };

  /// Starts it and returns once it is ready.
  explicit LedgerProgram(const Setup& setup);
  LedgerProgram(const LedgerProgram&) = delete;
  LedgerProgram& operator=(const LedgerProgram&) = delete;
  /// Lets it end, and compares.
  ~LedgerProgram();
  /// Lets it run its script; returns when its ledger is closed.
  Ledger run();

 private:
  explicit LedgerProgram(Twin twin);

  Twin twin_;
};

/// Reads one line of a ledger, not "done", into it.
void read_ledger_entry(const std::string& line, Ledger& into);
/// Reads the ledger's lines up to "done".
Ledger read_ledger(ChildProcess& from);

/// Path of a ledger program, or of a library that they use; one that is a path already stays.
std::string ledger_path(const std::string& name);
/// Where ledger_path leads to from here on: to HAWK_LEDGER_DIR until it is called.
void set_ledger_directory(std::string directory);

}  // namespace hawk
