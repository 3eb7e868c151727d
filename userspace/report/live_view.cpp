#include "userspace/report/live_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "userspace/report/call_table.h"
#include "userspace/report/display_text.h"
#include "userspace/report/live_columns.h"
#include "userspace/report/quantity.h"
#include "userspace/report/styled_line.h"
#include "userspace/report/units.h"
#include "userspace/report/unwind_text.h"
#include "userspace/report/verdict.h"

namespace hawk {
namespace {

constexpr std::size_t kNamesColumns = 32;      // beside the numbers so many columns are wanted for functions
constexpr std::size_t kMinCallerColumns = 12;  // a caller's name shorter than this says nothing
constexpr std::size_t kRowsForTotals = 12;     // smaller terminals get one line of totals

std::uint64_t grown(std::uint64_t before, std::uint64_t after) { return after > before ? after - before : 0; }

class LiveView {
 public:
  LiveView(const Snapshot& now, const Snapshot* previous, Symbolizer& symbolizer, const LiveOptions& options)
      : now_(now),
        previous_(previous != nullptr && previous->trace.exec_count == now.trace.exec_count ? previous : nullptr),
        elapsed_ns_(previous_ == nullptr ? 0 : grown(previous_->trace.duration_ns, now.trace.duration_ns)),
        symbolizer_(symbolizer),
        options_(options),
        style_(options.raw_bytes ? NumberStyle::kRaw : NumberStyle::kReadable) {}

  std::string render();

 private:
  void put(const StyledLine& line) { lines_.push_back(line.render(options_.columns, options_.color)); }
  void put(std::string_view text, Style style = Style::kPlain) { put(StyledLine{}.add(text, style)); }
  std::string bytes(std::uint64_t value) const { return format_bytes(value, style_); }
  std::size_t body_rows() const { return options_.rows - std::min(options_.rows, lines_.size() + 1); }

  void header();
  void totals();
  void totals_line(Quantity quantity, std::string_view more);
  std::string rates(Quantity quantity) const;
  void stacks();
  std::vector<LiveRow> select_rows(std::size_t max_rows, std::size_t& left_out) const;
  void add_before(std::vector<LiveRow>& rows) const;
  void add_names(StyledLine& line, const StackRecord& stack, const CallTable& calls) const;
  void help();
  StyledLine keys() const;

  const Snapshot& now_;
  const Snapshot* const previous_;
  const std::uint64_t elapsed_ns_;
  Symbolizer& symbolizer_;
  const LiveOptions& options_;
  const NumberStyle style_;
  std::vector<std::string> lines_;
};

void LiveView::header() {
  const Quantity sorted = quantity_of(options_.selection.sort);
  const Quantity quantity = sorted == Quantity::kLive ? Quantity::kLive : Quantity::kAllocated;
  StyledLine line;
  line.add(now_.target.comm.empty() ? std::string_view("(unnamed)") : std::string_view(now_.target.comm),
           Style::kStrong);
  line.add(fmt::format(" (pid {})  {}  ", now_.target.pid, format_duration(now_.trace.duration_ns)));
  const Verdict worth = numbers_verdict(now_, style_);
  line.add(worth.text, worth.style);
  if (options_.paused) line.add("  ").add("PAUSED", Style::kStrong);
  if (now_.trace.target_exited) line.add("  ").add("target ended", Style::kStrong);
  line.add(
      fmt::format("  {} {}", format_count(now_.stacks.size(), style_), now_.stacks.size() == 1 ? "stack" : "stacks"),
      Style::kDim);
  const std::string unwound = UnwindText(now_, quantity).short_summary();
  const auto add_if_it_fits = [&](const std::string& text) {
    if (line.width() + text.size() <= options_.columns) line.add(text, Style::kDim);
  };
  if (!unwound.empty()) add_if_it_fits(fmt::format(" ({})", unwound));
  if (options_.interval_ns != 0) add_if_it_fits("  every " + format_duration(options_.interval_ns));
  put(line);
}

std::string LiveView::rates(Quantity quantity) const {
  if (elapsed_ns_ == 0) return {};
  const Counters& before = previous_->totals;
  const std::uint64_t bytes_before = bytes_of(before, quantity);
  const std::uint64_t bytes_now = bytes_of(now_.totals, quantity);
  if (quantity == Quantity::kLive) {
    const bool shrunk = bytes_now < bytes_before;
    const std::uint64_t moved = per_second(shrunk ? bytes_before - bytes_now : bytes_now - bytes_before, elapsed_ns_);
    return fmt::format("  {}/s",
                       shrunk ? format_bytes_change(moved, 0, style_) : format_bytes_change(0, moved, style_));
  }
  const std::uint64_t blocks = grown(blocks_of(before, quantity), blocks_of(now_.totals, quantity));
  return fmt::format("  {}/s in {}/s", bytes(per_second(grown(bytes_before, bytes_now), elapsed_ns_)),
                     format_blocks(per_second(blocks, elapsed_ns_), style_));
}

void LiveView::totals_line(Quantity quantity, std::string_view more) {
  StyledLine line;
  line.add(align_left(quantity_name(quantity), 9), Style::kDim).add("  ");
  line.add(align_right(bytes(bytes_of(now_.totals, quantity)), 11),
           quantity == Quantity::kLive ? Style::kStrong : Style::kPlain);
  line.add(" in " + format_blocks(blocks_of(now_.totals, quantity), style_));
  line.add(rates(quantity));
  line.add(more, Style::kDim);
  put(line);
}

void LiveView::totals() {
  totals_line(Quantity::kLive, fmt::format("  peak at least {}", bytes(now_.peak_live_bytes)));
  if (options_.rows < kRowsForTotals) return;
  totals_line(Quantity::kAllocated, "");
  totals_line(Quantity::kFreed, fmt::format("  and {} {} ones", format_count(now_.frees_of_untraced, style_),
                                            now_.trace.min_block_bytes == 0 ? "older" : "other"));
  put("");
}

std::vector<LiveRow> LiveView::select_rows(std::size_t max_rows, std::size_t& left_out) const {
  const Selection& selection = options_.selection;
  std::vector<const StackRecord*> stacks = matching_stacks(now_, selection);
  const Quantity sorted = quantity_of(selection.sort);
  std::erase_if(stacks, [&](const StackRecord* stack) { return blocks_of(stack->counters, sorted) == 0; });
  const std::size_t top = selection.top == 0 ? stacks.size() : selection.top;
  const std::size_t shown = std::min({stacks.size(), top, max_rows});
  left_out = stacks.size() - shown;
  std::vector<LiveRow> rows;
  if (shown == 0) return rows;
  keep_top(stacks, selection.sort, shown);
  for (const StackRecord* stack : stacks) rows.push_back({stack, std::nullopt});
  if (previous_ != nullptr) add_before(rows);
  return rows;
}

void LiveView::add_before(std::vector<LiveRow>& rows) const {
  std::unordered_map<StackId, LiveRow*> row_of;
  for (LiveRow& row : rows) {
    row.before = Counters{};
    row_of.emplace(row.stack->id, &row);
  }
  for (const StackRecord& stack : previous_->stacks) {
    const auto row = row_of.find(stack.id);
    if (row != row_of.end()) row->second->before = stack.counters;
  }
}

void LiveView::add_names(StyledLine& line, const StackRecord& stack, const CallTable& calls) const {
  const auto room = [&] { return options_.columns - std::min(options_.columns, line.width()); };
  const std::vector<ShownFrame> shown = fold_frames(calls.list(stack), 0);
  if (shown.empty()) {
    line.add(shorten_end(no_frames_text(stack.id), room()));
    return;
  }
  bool first = true;
  for (const ShownFrame& item : shown) {
    if (item.frame == nullptr) continue;
    const std::string name = item.frame->name;
    const std::string place = first ? source_place(item.frame->source, 1) : "";
    const std::size_t beside = first ? (place.empty() ? 0 : 1 + display_width(place)) : 3;
    const std::size_t min_columns = first ? 0 : std::min(display_width(name), kMinCallerColumns);
    if (room() < beside + min_columns) {
      if (first) line.add(shorten_middle(name, room()));
      return;
    }
    if (!first) line.add(" < ", Style::kDim);
    line.add(shorten_middle(name, room() - (first ? beside : 0)), first ? Style::kPlain : Style::kDim);
    if (!place.empty()) line.add(" " + place, Style::kDim);
    first = false;
  }
}

void LiveView::stacks() {
  std::size_t left_out = 0;
  const std::size_t rows_for_stacks = body_rows() - std::min<std::size_t>(body_rows(), 1);
  const std::vector<LiveRow> rows = select_rows(rows_for_stacks, left_out);
  if (rows.empty()) {
    put(now_.totals.allocated_count == 0 ? "no allocation yet" : "no stack to show");
    return;
  }
  NumberColumns columns = live_columns(rows, now_.totals, options_.selection.sort, elapsed_ns_, style_);
  columns.drop(options_.columns, kNamesColumns);
  std::vector<const StackRecord*> shown;
  shown.reserve(rows.size());
  for (const LiveRow& row : rows) shown.push_back(row.stack);
  const CallTable calls(now_, shown, symbolizer_, options_.role_of);
  StyledLine titles;
  columns.add_titles(titles);
  titles.add("FUNCTION < CALLERS", Style::kDim);
  put(titles);
  for (std::size_t index = 0; index < rows.size(); ++index) {
    StyledLine line;
    columns.add_cells(line, index);
    add_names(line, *rows[index].stack, calls);
    put(line);
  }
  if (left_out != 0 && body_rows() > 0) {
    put(fmt::format("… {} more {}", format_count(left_out, style_), left_out == 1 ? "stack" : "stacks"), Style::kDim);
  }
}

void LiveView::help() {
  static constexpr std::array<std::string_view, 14> kLines = {
      "q        quit and print the final report",
      "s        sort by the next key: live, live-count, allocated, ...",
      "p        pause the display, tracing goes on",
      "b        exact bytes, or KiB, MiB, ...",
      "?        this help",
      "",
      "LIVE     bytes allocated since the trace began and not freed",
      "CHANGE   of LIVE since the display before",
      "BLOCKS   live blocks",
      "ALLOC/s  bytes allocated per second, freed again or not",
      "SHARE    of the column marked ▼ in its total",
      "older    freed blocks from before the trace",
      "FUNCTION who called the allocator (library frames skipped), and its callers",
      "",
  };
  for (const std::string_view line : kLines) put(line);
}

StyledLine LiveView::keys() const {
  StyledLine line;
  line.add(fmt::format("q quit  s sort ({})  p {}  b bytes  ? help", sort_key_name(options_.selection.sort),
                       options_.paused ? "resume" : "pause"),
           Style::kDim);
  return line;
}

std::string LiveView::render() {
  header();
  totals();
  if (options_.help) {
    help();
  } else {
    stacks();
  }
  // The keys stay in sight, except on a single line.
  lines_.resize(std::max<std::size_t>(1, options_.rows - 1));
  if (options_.rows > 1) put(keys());
  return fmt::format("{}", fmt::join(lines_, "\n"));
}

}  // namespace

std::string render_live(const Snapshot& now, const Snapshot* previous, Symbolizer& symbolizer,
                        const LiveOptions& options) {
  if (options.rows == 0 || options.columns == 0) return {};
  return LiveView(now, previous, symbolizer, options).render();
}

}  // namespace hawk
