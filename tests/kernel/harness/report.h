#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/kernel/harness/ledger.h"

namespace hawk {

/// A frame of the JSON report.
struct ReportFrame {
  std::string function;  ///< empty: unknown. Without the parameters of a C++ function.
  bool inlined = false;
  std::uint64_t address = 0;  ///< the return address, or that of an instruction which a signal interrupted
};

/// What of a stack is a thread's.
struct ReportThread {
  std::string name;
  Numbers numbers;
  std::uint64_t freed_by_others = 0;
};

struct ReportStack {
  Numbers numbers;
  Numbers live;                                        ///< live bytes and count, in the first two fields
  std::map<std::uint64_t, Numbers> generations = {};   ///< what of it lives, as `live`; where there are several
  std::map<std::uint64_t, ReportThread> threads = {};  ///< by thread id, where stacks are told apart by it
  /// Blocks by the least of their class, where they are counted: bytes of those allocated, milliseconds of those freed.
  std::map<std::uint64_t, std::uint64_t> sizes = {}, lifetimes = {};
  std::uint64_t temporary = 0;
  std::string unwound;      ///< "complete", "guessed" or "truncated"; empty: the stack was not recorded
  std::string end;          ///< why the walk ended
  std::string fingerprint;  ///< empty: the stack was not recorded
  std::vector<ReportFrame> frames = {};

  /// The first function that is neither inlined nor a form of operator new: the direct caller of the allocator.
  std::string direct_caller() const;
  /// Cut because mappings were being changed at that moment.
  bool fell_into_gap() const { return end == "mappings_changing"; }
  /// Functions that are not inlined, innermost first, from the direct caller of the allocator on.
  std::vector<std::string> functions() const;
  /// The frames of these without the first one, by address.
  std::vector<std::uint64_t> addresses_above() const;
  /// All function names, innermost first.
  std::string text() const;

 private:
  /// Those that are no inlined calls, from the direct caller of the allocator on.
  std::vector<const ReportFrame*> outer_frames() const;
};

/// What one stack has mapped, of one kind.
struct ReportMapping {
  std::string kind, origin;
  std::string fingerprint;  ///< empty: no stack
  std::uint64_t live_bytes = 0, regions = 0, mapped_bytes = 0, mapped_count = 0, unmapped_bytes = 0;
  std::vector<ReportFrame> frames = {};
};

/// A JSON report of hawktrace, as far as the tests compare it.
struct Report {
  bool exact = false;          ///< of the target and of all that it started
  bool numbers_exact = false;  ///< of the target
  bool stacks_complete = false;
  std::string attach_via;
  std::string live_table;
  std::string unwind;
  std::string comm;
  std::string exe;
  bool target_exited = false;
  std::uint64_t exec_count = 0;
  std::optional<bool> verified = {};
  Numbers totals;
  Numbers live;
  std::uint64_t frees_of_untraced = 0;
  std::uint64_t peak_live_bytes = 0;
  std::uint64_t peak_live_bytes_most = 0;
  std::map<std::string, std::uint64_t> losses;
  /// Function -> calls that were seen at points inside it, where they end.
  std::map<std::string, std::uint64_t> calls_at_points = {};
  std::uint64_t children_without_exec = 0;
  std::map<std::string, std::uint64_t> child_programs = {};  ///< name -> times that it was started
  std::vector<std::string> unread_tables = {};  ///< files whose call frame information is not used, and why is said
  std::vector<std::string> files_with_symbol_gaps = {};
  std::vector<ReportStack> stacks = {};
  std::vector<ReportMapping> mappings = {};
  std::map<std::string, std::uint64_t> mapped_by_kind = {};  ///< live bytes; empty: mappings were not followed
};

/// Reads a report file. Throws (nlohmann::json::exception) when it is not a complete hawktrace.report/1.
Report read_report(const std::string& path);

}  // namespace hawk
