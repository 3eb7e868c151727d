#pragma once

#include <string>

#include "userspace/report/styled_line.h"
#include "userspace/report/units.h"
#include "userspace/tables/snapshot.h"

namespace hawk {

/// What a report may promise, in the words of its first line and of the live screen's: "exact", "numbers exact, stacks
/// incomplete", "exact for this process, 4 child processes not traced", "NOT exact".
struct Verdict {
  std::string text;
  Style style = Style::kPlain;
};
Verdict verdict(const Snapshot& snapshot, NumberStyle style);
/// The same of one of several processes.
Verdict verdict(const TargetPart& part, NumberStyle style);
/// Why the numbers of one are not exact, the first cause: "12 allocations not kept: the live table is full, and 2 more
/// causes". Empty: no cause was counted.
std::string inexact_causes_text(const TargetPart& part, NumberStyle style);

/// What a report is of: "shop (pid 42)", or of several processes the first few: "shop (pid 42), cron (pid 43) and 7
/// more".
std::string processes_text(const Snapshot& snapshot);

/// "1 child process", "4 child processes".
std::string child_processes_text(std::uint64_t count, NumberStyle style);

/// The programs that the children ran: "cc1plus, sh (3 times), and 2 copies of the process itself". The first few.
/// Empty: none is known.
std::string child_programs_text(const UntracedChildren& children, NumberStyle style);

}  // namespace hawk
