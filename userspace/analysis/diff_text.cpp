#include "userspace/analysis/diff_text.h"

#include <fmt/core.h>

#include "userspace/base/printable.h"
#include "userspace/report/quantity.h"
#include "userspace/report/verdict.h"
#include "userspace/views/view_notes.h"

namespace hawk {
namespace {

std::string size_of(const Counters& counters, SortKey key, NumberStyle style) {
  const Quantity quantity = quantity_of(key);
  return fmt::format("{} in {}", format_bytes(bytes_of(counters, quantity), style),
                     format_blocks(blocks_of(counters, quantity), style));
}

std::string state_line(const char* name, const Snapshot& snapshot, const DiffTextOptions& options, SortKey key) {
  return fmt::format("{}: {}, traced for {}: {}; {}\n", name, printable(processes_text(snapshot)),
                     format_duration(snapshot.trace.duration_ns), size_of(snapshot.totals, key, options.numbers),
                     verdict(snapshot, options.numbers).text);
}

std::string change_text(const Counters& before, const Counters& after, SortKey key, NumberStyle style) {
  const Quantity quantity = quantity_of(key);
  return format_bytes_change(bytes_of(before, quantity), bytes_of(after, quantity), style);
}

/// The calls that are not folded; all of them if all are folded.
std::vector<const ComparedCall*> shown_calls(const StackChange& change, const DiffTextOptions& options) {
  std::vector<const ComparedCall*> shown;
  for (const ComparedCall& call : change.calls) {
    const bool is_folded =
        !options.full_stacks && options.role_of && options.role_of(call.function) != FrameRole::kProgram;
    if (!is_folded) shown.push_back(&call);
  }
  if (!shown.empty()) return shown;
  for (const ComparedCall& call : change.calls) shown.push_back(&call);
  return shown;
}

std::string stack_text(const StackChange& change, std::size_t number, const SnapshotDiff& diff,
                       const DiffTextOptions& options) {
  std::string text = fmt::format(
      "\n#{:<4} {} {}: from {} to {}\n", number, change_text(change.before, change.after, diff.sort, options.numbers),
      quantity_name(quantity_of(diff.sort)), size_of(change.before, diff.sort, options.numbers),
      size_of(change.after, diff.sort, options.numbers));
  for (const ComparedCall* call : shown_calls(change, options)) {
    text += fmt::format("      {}{}\n", printable(call->function),
                        call->module.empty() ? std::string() : fmt::format("  {}", printable(call->module)));
  }
  return text;
}

}  // namespace

std::string render_diff_text(const SnapshotDiff& diff, const DiffTextOptions& options) {
  std::string text = state_line("before", diff.before, options, diff.sort);
  text += state_line("after", diff.after, options, diff.sort);
  text += fmt::format("change: {} {}\n", change_text(diff.before.totals, diff.after.totals, diff.sort, options.numbers),
                      quantity_name(quantity_of(diff.sort)));
  if (const std::string narrowing = narrowing_text(diff.filter); !narrowing.empty()) {
    text += fmt::format("{}: compares {} before with {} after\n", printable(narrowing),
                        size_of(diff.compared_before, diff.sort, options.numbers),
                        size_of(diff.compared_after, diff.sort, options.numbers));
  }
  text += fmt::format("\n{} {} changed; shown: {}, by the change of {}\n", format_stacks(diff.changed, options.numbers),
                      diff.changed == 1 ? "has" : "have", diff.changes.size(), sort_key_name(diff.sort));
  for (std::size_t i = 0; i < diff.changes.size(); ++i) text += stack_text(diff.changes[i], i + 1, diff, options);
  return text;
}

}  // namespace hawk
