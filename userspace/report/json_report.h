#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "symbolizer/symbolizer.h"
#include "userspace/tables/selection.h"
#include "userspace/tables/snapshot.h"

namespace hawk {

/// How the report for programs is written.
struct JsonOptions {
  Selection selection;
  std::string hawktrace_version = HAWKTRACE_VERSION;
};

/// Takes the next piece of a document; false: no more is wanted (the reader is gone).
using TextSink = std::function<bool(std::string_view)>;

/// Writes the report for programs, schema hawktrace.report/1, piece by piece: a document of 100,000 stacks never exists
/// in memory as a whole. Keys come in a fixed order, one stack to a line. Numbers are integers; what is unknown is
/// null; addresses are hex strings. Text that is not UTF-8 gets U+FFFD in place of the bytes.
///
/// Beyond design §6: trace.target_exited, trace.exec_count, trace.verified, functions[].instruction and
/// .single_stepped, and `selection`, which says how much of the snapshot `stacks` shows.
void write_json(const Snapshot& snapshot, Symbolizer& symbolizer, const JsonOptions& options, const TextSink& sink);

/// The same as one string.
std::string render_json(const Snapshot& snapshot, Symbolizer& symbolizer, const JsonOptions& options);

}  // namespace hawk
