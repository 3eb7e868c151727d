#include "userspace/export/text_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "userspace/report/call_table.h"
#include "userspace/report/display_text.h"
#include "userspace/report/interpreter_hint.h"
#include "userspace/report/loss_block.h"
#include "userspace/report/mapping_text.h"
#include "userspace/report/quantity.h"
#include "userspace/report/report_header.h"
#include "userspace/report/stack_list.h"
#include "userspace/report/stack_table.h"
#include "userspace/report/styled_line.h"
#include "userspace/report/symbol_gaps.h"
#include "userspace/report/text_page.h"
#include "userspace/report/units.h"
#include "userspace/report/unwind_text.h"
#include "userspace/views/age_view.h"
#include "userspace/views/group_table.h"
#include "userspace/views/histogram_text.h"
#include "userspace/views/tree_text.h"
#include "userspace/views/view_notes.h"

namespace hawk {
namespace {

class TextReport {
 public:
  TextReport(const Snapshot& snapshot, Symbolizer& symbolizer, const TextOptions& options, const TextSink& sink,
             const FrameFilter& filter, const Grouping& grouping)
      : snapshot_(snapshot),
        symbolizer_(symbolizer),
        options_(options),
        filter_(filter),
        grouping_(grouping),
        page_(options, sink),
        sorted_(quantity_of(options.selection.sort)),
        gaps_(quantity_of_shares()),
        unwind_(snapshot, quantity_of_shares()),
        view_(make_stack_view(snapshot, symbolizer, filter, options.before_symbolizing)),
        shown_(shown_stacks()),
        calls_(snapshot, is_grouped() ? view_.stacks : shown_, symbolizer, options.role_of, options.before_symbolizing,
               filter.hides(snapshot)) {}

  void write() {
    summary(shown_);
    const std::size_t summary_lines = page_.line_count();
    if (snapshot_.totals.allocated_count != 0) {
      if (is_grouped()) {
        look_for_gaps();
      } else {
        stacks();
      }
      put_histograms(page_, snapshot_);
      incomplete_stacks();
      symbol_gaps();
    }
    put_mappings(page_, snapshot_, symbolizer_);
    const std::size_t lines = page_.line_count();
    losses();
    if (options_.rows != 0 && page_.line_count() >= options_.rows) {
      repeat_summary(summary_lines + page_.line_count() - lines);
    }
    page_.finish();
  }

 private:
  /// What shares of bytes are of.
  Quantity quantity_of_shares() const { return sorted_ == Quantity::kLive ? Quantity::kLive : Quantity::kAllocated; }
  /// Whether a stack has anything of the quantity sorted by. A block of 0 bytes counts: it is there.
  bool has_any(const StackRecord& stack) const { return blocks_of(stack.counters, sorted_) != 0; }
  std::vector<const StackRecord*> shown_stacks() const;
  using Stacks = std::vector<const StackRecord*>;
  /// Whether there is something else than stacks to be shown.
  bool is_grouped() const { return grouping_.tree || grouping_.by != GroupKind::kStack; }
  void look_for_gaps();
  void summary(const Stacks& stacks);
  void repeat_summary(std::size_t lines);
  std::string stacks_heading(const Stacks& stacks) const;
  std::string options_for_all() const;
  void table(const Stacks& stacks);
  void stacks();
  void hidden_stacks(const Stacks& stacks);
  void incomplete_stacks();
  void symbol_gaps();
  void losses();

  const Snapshot& snapshot_;
  Symbolizer& symbolizer_;
  const TextOptions& options_;
  const FrameFilter& filter_;
  const Grouping& grouping_;
  TextPage page_;
  const Quantity sorted_;
  SymbolGaps gaps_;
  const UnwindText unwind_;
  const StackView view_;
  const std::vector<const StackRecord*> shown_;
  const CallTable calls_;
};

std::vector<const StackRecord*> TextReport::shown_stacks() const {
  std::vector<const StackRecord*> shown = select_stacks(view_.stacks, options_.selection);
  std::erase_if(shown, [&](const StackRecord* record) { return !has_any(*record); });
  return shown;
}

void TextReport::summary(const Stacks& stacks) {
  put_header(page_, snapshot_);
  put_age_note(page_, snapshot_);
  if (snapshot_.totals.allocated_count == 0) {
    put_nothing_allocated(page_, snapshot_);
  } else {
    table(stacks);
    put_totals(page_, snapshot_, unwind_);
  }
}

/// What was first has scrolled away: once more, with as many stacks as fit on the terminal. `lines`: of the summary
/// with all stacks, and of the losses.
void TextReport::repeat_summary(std::size_t lines) {
  constexpr std::size_t kFewest = 3;
  const std::size_t others = lines - std::min(lines, shown_.size()) + 2;  // an empty line before, the prompt behind
  const std::size_t room = options_.rows - std::min(options_.rows, others);
  const std::size_t count = std::min(shown_.size(), std::max(kFewest, room));
  page_.put("");
  summary(Stacks(shown_.begin(), shown_.begin() + static_cast<std::ptrdiff_t>(count)));
  losses();
}

std::string TextReport::stacks_heading(const Stacks& stacks) const {
  const std::uint64_t min_size = options_.selection.min_size_bytes;
  const std::string_view sorted = sort_key_words(options_.selection.sort);
  const std::string all = format_stacks(view_.stacks.size(), page_.style());
  if (view_.stacks.empty()) return "no stacks to show";
  if (shown_.empty() && min_size == 0) return fmt::format("none of {} has {}", all, sorted);
  if (shown_.empty()) return fmt::format("none of {} has {} or more", all, page_.bytes(min_size));
  const std::string floor = min_size == 0 ? "" : fmt::format(", of {} or more", page_.bytes(min_size));
  return fmt::format("top {} of {} by {}{}", stacks.size(), all, sorted, floor);
}

/// Of the options that leave stacks out, those that did.
std::string TextReport::options_for_all() const {
  const auto large_enough = std::count_if(view_.stacks.begin(), view_.stacks.end(), [&](const StackRecord* record) {
    return is_large_enough(record->counters, options_.selection) && has_any(*record);
  });
  const bool by_top = static_cast<std::size_t>(large_enough) > shown_.size();
  return fmt::format("{}{}", by_top ? "--top 0" : "--min-size 0",
                     by_top && options_.selection.min_size_bytes != 0 ? " --min-size 0" : "");
}

void TextReport::table(const Stacks& stacks) {
  if (grouping_.tree) {
    put_call_tree(page_, snapshot_, view_, calls_, grouping_);
  } else if (is_grouped()) {
    put_group_table(page_, snapshot_, view_, calls_, grouping_);
  } else {
    page_.put_wrapped(stacks_heading(stacks), 2, Style::kStrong);
    if (!stacks.empty()) put_stack_table(page_, snapshot_, stacks, calls_);
    hidden_stacks(stacks);
  }
  put_view_notes(page_, snapshot_, view_, filter_);
  page_.end_section();
  put_suppressions(page_, view_, filter_);
}

/// Without the stacks themselves.
void TextReport::look_for_gaps() {
  for (const StackRecord* stack : view_.stacks) gaps_.add(*stack, calls_.list(*stack));
}

void TextReport::stacks() {
  StackList list(page_, snapshot_, calls_, unwind_, gaps_);
  for (std::size_t index = 0; index < shown_.size(); ++index) {
    if (!page_.go_on()) return;
    list.put(index + 1, *shown_[index]);
  }
  if (list.folded_any()) {
    page_.put_wrapped(
        "… folded: frames of the allocator, its wrappers and the standard library, and repeated calls (×); "
        "--full-stacks shows all",
        2, Style::kDim);
  }
  const std::string hint = calls_.has_interpreted() ? "" : interpreter_hint(snapshot_);
  if (!hint.empty()) page_.put_hint(hint, 6);
  page_.end_section();
}

void TextReport::hidden_stacks(const Stacks& stacks) {
  std::size_t hidden = 0;
  std::size_t without = 0;
  Counters rest;
  for (const StackRecord* record : view_.stacks) {
    (has_any(*record) ? hidden : without) += 1;
    rest += record->counters;
  }
  hidden -= stacks.size();
  for (const StackRecord* record : stacks) {
    rest.allocated_bytes -= record->counters.allocated_bytes;
    rest.allocated_count -= record->counters.allocated_count;
    rest.freed_bytes -= record->counters.freed_bytes;
    rest.freed_count -= record->counters.freed_count;
  }
  const std::string_view word = quantity_name(sorted_);
  if (stacks.size() < shown_.size()) {
    page_.put_wrapped(fmt::format("… {} more {} above", page_.count(shown_.size() - stacks.size()),
                                  shown_.size() - stacks.size() == 1 ? "stack" : "stacks"),
                      2);
  } else if (hidden != 0) {
    page_.put_wrapped(fmt::format("… {} more {}, {} {} in {} ({}); {} shows all", page_.count(hidden),
                                  hidden == 1 ? "stack" : "stacks", word, page_.bytes(bytes_of(rest, sorted_)),
                                  page_.blocks(blocks_of(rest, sorted_)),
                                  format_share(sort_value(rest, options_.selection.sort),
                                               sort_value(snapshot_.totals, options_.selection.sort)),
                                  options_for_all()),
                      2);
  }
  if (without != 0) {
    page_.put(fmt::format("… {} {} with nothing {}", page_.count(without), without == 1 ? "stack" : "stacks", word),
              Style::kDim);
  }
  if (hidden == 0 && without != 0 && stacks.empty() && sorted_ == Quantity::kLive) {
    page_.put_hint("hint: everything was freed; --sort allocated shows which stacks allocated most", 6);
  }
}

void TextReport::incomplete_stacks() {
  const UnwindText::Causes causes = unwind_.causes();
  if (causes.lines.empty()) return;
  page_.put("stacks that are not complete", Style::kStrong);
  for (const std::string& line : causes.lines) page_.put_wrapped(line, 12);
  for (const std::string& hint : causes.hints) page_.put_hint("  " + hint, 8);
  page_.put("");
}

void TextReport::symbol_gaps() {
  const std::vector<SymbolGap> gaps = gaps_.gaps(snapshot_, symbolizer_);
  const std::uint64_t in_no_file = gaps_.bytes_in_no_file();
  if (gaps.empty() && in_no_file == 0) return;
  const Quantity quantity = quantity_of_shares();
  const std::uint64_t whole = bytes_of(snapshot_.totals, quantity);
  page_.put("missing symbols", Style::kStrong);
  if (in_no_file != 0) {
    page_.put_wrapped(fmt::format("  code outside files, generated by an interpreter or a JIT compiler: the stacks "
                                  "above that pass through it hold {} of {} bytes",
                                  format_share(in_no_file, whole), quantity_name(quantity)),
                      4);
    page_.put_hint(fmt::format("  {}", kPerfMapHint), 8);
  }
  for (const SymbolGap& gap : gaps) {
    const Module* module = find_module(snapshot_, gap.module);
    if (module == nullptr) continue;
    const std::string share =
        fmt::format("{} of {} bytes", format_share(gap.affected_bytes, whole), quantity_name(quantity));
    page_.put_wrapped(gap_text(gap, *module, share), 4);
  }
  if (!gaps.empty())
    page_.put_hint(
        "  hint: install the debug symbols of these files (packages named -dbgsym or -debuginfo), or build them "
        "unstripped with -g; a debug file is also found by build id, as /usr/lib/debug/.build-id/XX/REST.debug",
        8);
  page_.put("");
}

void TextReport::losses() {
  for (const StyledLine& line : render_losses(snapshot_, page_.style(), options_.width)) page_.put(line);
}

}  // namespace

void write_text(const Snapshot& snapshot, Symbolizer& symbolizer, const TextOptions& options, const TextSink& sink,
                const FrameFilter& filter, const Grouping& grouping) {
  TextReport(snapshot, symbolizer, options, sink, filter, grouping).write();
}

void write_text_report(const ReportRequest& request, const TextSink& sink) {
  TextOptions options;
  options.selection = request.selection;
  options.role_of = request.role_of;
  options.full_stacks = request.full_stacks;
  options.raw_bytes = request.raw_bytes;
  options.color = request.color;
  options.width = request.width;
  options.rows = request.is_one_of_several ? 0 : request.rows;  // the next report has a summary too
  options.previous = request.previous;
  options.before_symbolizing = request.before_symbolizing;
  if (request.previous != nullptr && !sink("\n")) return;
  write_text(request.snapshot, request.symbolizer, options, sink, request.filter, request.grouping);
}

std::string render_text(const Snapshot& snapshot, Symbolizer& symbolizer, const TextOptions& options,
                        const FrameFilter& filter, const Grouping& grouping) {
  return text_of_document(
      [&](const TextSink& sink) { write_text(snapshot, symbolizer, options, sink, filter, grouping); });
}

}  // namespace hawk
