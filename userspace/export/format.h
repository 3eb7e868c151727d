#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "symbolizer/symbolizer.h"
#include "userspace/report/frame_list.h"
#include "userspace/report/symbolized_locations.h"
#include "userspace/report/text_sink.h"
#include "userspace/tables/selection.h"
#include "userspace/tables/snapshot.h"
#include "userspace/views/grouping.h"
#include "userspace/views/stack_view.h"

namespace hawk {

/// How the heap has come to be as a snapshot has it, as far as a recording has it.
struct HeapSeries {
  struct Point {
    std::uint64_t time_ns = 0;  ///< since the trace began
    std::uint64_t live_bytes = 0;
  };
  std::vector<Point> points = {};     ///< ascending; the last one is the snapshot's
  std::size_t peak = 0;               ///< the index of the first of those with most live bytes
  const Snapshot* at_peak = nullptr;  ///< as of then; nullptr: the peak is the last point
  /// Hands on the state at each point but the last, in order, until that returns false. Stacks have the numbers that
  /// they have in the snapshot. Empty: these states are not known.
  std::function<void(const std::function<bool(const Snapshot&)>&)> replay = {};
};

/// What is to be written, and how. A format takes no notice of what does not apply to it.
struct ReportRequest {
  const Snapshot& snapshot;
  Symbolizer& symbolizer;
  const HeapSeries* series = nullptr;  ///< nullptr: only the snapshot is known
  const Snapshot* previous = nullptr;  ///< of the report before; nullptr: there was none
  bool is_one_of_several = false;      ///< reports follow each other in one file (--report-every)
  Selection selection = {};
  FrameFilter filter = {};                        ///< which stacks and calls the selection is made of
  Grouping grouping = {};                         ///< of text and JSON
  RoleOfFunction role_of = {};                    ///< what is not the program's; empty: everything is
  LocationCountObserver before_symbolizing = {};  ///< may be empty
  bool full_stacks = false;                       ///< for people: nothing is folded, shortened or left out
  bool raw_bytes = false;                         ///< for people: exact bytes instead of KiB, MiB, ...
  bool color = false;                             ///< for a terminal
  std::size_t width = 0;                          ///< columns of the terminal; 0: any
  std::size_t rows = 0;                           ///< of the terminal; 0: it is none
  const char* hawktrace_version = HAWKTRACE_VERSION;
};

/// A format of reports: one file, and one row in formats.cpp. The command line, its help, the man page and the tests
/// take what they say from here.
struct Format {
  const char* name;         ///< after --format
  const char* extension;    ///< of a file that holds such a report, without the dot
  const char* description;  ///< what it is for: "a report to read"
  bool is_for_people;       ///< read on a screen: the first stacks are enough, and a live screen may stand in for it
  bool can_follow;          ///< several reports may follow each other in one file (--report-every)
  bool is_text;             ///< or any bytes, which no terminal should be sent
  void (*write)(const ReportRequest& request, const TextSink& sink);
  enum class Groups {
    kNone,       ///< it holds stacks alone
    kProcesses,  ///< stacks may begin with the processes that have them (--by process, exe, cgroup)
    kAll,        ///< it can hold other rows than stacks (--by, --tree)
  };
  Groups groups = Groups::kNone;
  bool has_ages = false;  ///< it says how old live blocks are
};

/// All of them. The first is what a report is without --format.
std::span<const Format> formats();

}  // namespace hawk
