#pragma once

#include <string>

#include "symbolizer/symbolizer.h"
#include "userspace/export/format.h"
#include "userspace/report/frame_list.h"
#include "userspace/report/symbolized_locations.h"
#include "userspace/report/text_sink.h"
#include "userspace/tables/selection.h"
#include "userspace/tables/snapshot.h"
#include "userspace/views/grouping.h"
#include "userspace/views/stack_view.h"

namespace hawk {

/// How the report for programs is written.
struct JsonOptions {
  Selection selection;
  RoleOfFunction role_of;  ///< what is hidden; empty: nothing but recursion
  std::string hawktrace_version = HAWKTRACE_VERSION;
  const Snapshot* previous = nullptr;        ///< of the report before; nullptr: there was none
  bool one_line = false;                     ///< for several documents behind each other
  LocationCountObserver before_symbolizing;  ///< may be empty
  FrameFilter filter = {};
  Grouping grouping = {};
  bool with_folded = false;  ///< groups and trees count calls that reports fold
};

/// Writes the report for programs, schema hawktrace.report/1, piece by piece. All symbols are looked up before the
/// first piece. Keys come in a fixed order, one stack to a line. Numbers are integers; what is unknown is null;
/// addresses are hex strings. Text that is not UTF-8 gets U+FFFD in place of the bytes.
///
/// Of a stack, "unwound" says "complete", "guessed" or "truncated" and "end" why the walk ended (bpf/unwind/ends.h);
/// null where no stack was recorded. A frame has the key "interrupted", true, only where its address is that of an
/// instruction which a signal interrupted and not a return address. `unwinding` sums all stacks of the snapshot up by
/// quality, those that are not complete also by end, and lists what the files' unwind tables lack.
///
/// "label" is what the report for people calls the stack: the function that decides on what it allocates, short_name()
/// of it; null without frames. Frames that are "hidden" are those that report has no line for: what the allocator and
/// the libraries do, and all but the innermost call of a recursion.
///
/// "memory" is what the kernel said that the target takes at the last reading before its end, with the live bytes of
/// that time; null when it was gone by then.
///
/// "target.threads" are the threads of the target as readings at each interval saw them, in the order in which they
/// were found: times are of those readings, since the trace began, "gone_ns" null for one that the last reading saw. A
/// thread that is renamed is there once more. At most kMaxThreadNames.
///
/// "targets" is there only where several processes are summed up: all of them, of which "target" is the first.
///
/// "usage" is what tracing took until the last drain, null where that is not known: "cpu_ns" and "peak_resident_bytes"
/// of hawktrace and the processes that it reads files with, "table_bytes" of the kernel's tables, "target_cpu_ns" of
/// the target since the trace began, and "traps_ns" of that for the traps alone, at least: calls times the measured
/// cost of the cheapest, without the work of the programs. trace.dump_cause is why the report was made out of turn:
/// "signal", "time", "allocated", "growth", "peak"; null: it was not.
///
/// "since_previous_report" is there, in the whole and in each stack, only where there was a report before: what was
/// allocated and freed since then.
///
/// totals.peak_live_bytes is the highest value that was sampled every trace.interval_ns and at the end: the true peak
/// is no lower.
///
/// "view" is there only with a filter: what it is, and how many stacks with what numbers are "shown", "left_out" and
/// "suppressed", which add up to "totals"; `stacks` are of those shown, and hidden calls are none of their frames.
/// "groups" is there with Grouping::by, "tree" with Grouping::tree; both are of all stacks shown, whatever the
/// selection leaves out, and write_groups() and write_tree() say what they hold.
///
/// Besides what the README documents: trace.interval_ns, trace.target_exited, trace.exec_count, trace.verified,
/// functions[].instruction, .single_stepped and .cost_ns, functions[].points, where calls are seen with --attach-via
/// points: what each shows of a call ("call", "size", "result", "return_probe"), at which instruction, what the trap
/// costs and how many calls were seen there; functions[].points_fallback: why there are none; and `selection`, which
/// says how much of the snapshot `stacks` shows.
void write_json(const Snapshot& snapshot, Symbolizer& symbolizer, const JsonOptions& options, const TextSink& sink);

/// The same as a row of the table of formats. Of several reports each is a line.
void write_json_report(const ReportRequest& request, const TextSink& sink);

/// The same as one string.
std::string render_json(const Snapshot& snapshot, Symbolizer& symbolizer, const JsonOptions& options);

}  // namespace hawk
