#include "userspace/screen/view.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "userspace/report/call_table.h"
#include "userspace/screen/columns.h"
#include "userspace/screen/process_page.h"
#include "userspace/screen/prompts.h"
#include "userspace/screen/row_names.h"
#include "userspace/screen/stack_page.h"
#include "userspace/screen/totals.h"

namespace hawk {
namespace {

constexpr std::size_t kNamesColumns = 32;    // columns for functions next to the numbers
constexpr std::size_t kRowsForTotals = 12;   // smaller terminals get one line of totals
constexpr std::size_t kRowsForOneTotal = 6;  // and these none
constexpr std::size_t kRowsForTitles = 4;

ScreenLine dim(const std::string& text) { return {StyledLine{}.add(text, Style::kDim)}; }

std::vector<ListRow> list_rows(const Moment& moment, const std::vector<const StackRecord*>& stacks) {
  std::vector<ListRow> rows;
  for (const StackRecord* stack : stacks) {
    ListRow row = {stack, std::nullopt};
    if (moment.previous != nullptr) {
      const Counters* const before = moment.counters_before(stack->id);
      row.before = before == nullptr ? Counters{} : *before;
    }
    rows.push_back(row);
  }
  return rows;
}

}  // namespace

View::View(ViewOptions options)
    : options_(std::move(options)), list_(options_.role_of, options_.selection.top, options_.selection.min_size_bytes) {
  state_.sort = screen_sort(options_.selection.sort);
  state_.raw_bytes = options_.raw_bytes;
}

SpareStacks View::take_spare() {
  std::optional<Snapshot> spare = std::exchange(previous_, std::nullopt);
  return spare ? SpareStacks{std::move(spare->stacks), spare->known_of_stacks} : SpareStacks();
}

void View::update(Snapshot now) {
  previous_ = std::move(now_);
  now_ = std::move(now);
  if (!previous_) return;
  // Another program: its stacks have nothing to do with those of the one before. Stacks of several processes keep their
  // numbers whatever these run.
  const bool is_another = now_->parts.empty() && previous_->trace.exec_count != now_->trace.exec_count;
  if (!is_another && now_->parts.empty() == previous_->parts.empty()) return;
  list_.forget();
  filter_.forget();
  state_.go_to_top();
  if (state_.page == Page::kStack) state_.page = Page::kList;
}

Reaction View::take(const ScreenEvent& event) {
  const Reaction reaction = take_event(state_, event, layout_);
  if (filter_.pattern() != state_.filter) filter_ = StackFilter(state_.filter);
  return reaction;
}

ScreenLines View::render(std::size_t rows, std::size_t columns, Symbolizer& symbolizer) {
  if (!now_ || rows == 0 || columns == 0) return {};
  const Moment moment(*now_, previous_ ? &*previous_ : nullptr,
                      state_.raw_bytes ? NumberStyle::kRaw : NumberStyle::kReadable);
  layout_ = {};
  ScreenLines lines;
  lines.push_back({header_line(moment, quantity_of(state_.sort), options_.interval_ns, state_.paused, columns)});
  if (rows == 1) return lines;
  if (state_.page != Page::kStack && rows >= kRowsForOneTotal) {
    ScreenLines totals = totals_lines(moment);
    if (rows < kRowsForTotals) totals.resize(1);
    lines.insert(lines.end(), totals.begin(), totals.end());
    if (rows >= kRowsForTotals) lines.push_back({});
  }
  put_body(lines, rows - 1, columns, moment, symbolizer);
  lines.resize(rows - 1);
  lines.push_back({key_line(state_, filter_.is_expression(), !now_->parts.empty(), columns)});
  return lines;
}

void View::put_body(ScreenLines& lines, std::size_t rows, std::size_t columns, const Moment& moment,
                    Symbolizer& symbolizer) {
  if (state_.page == Page::kHelp) return put_page(lines, rows, help_page());
  if (state_.page == Page::kProcesses) return put_page(lines, rows, process_page(moment, state_.sort));
  // The list is kept up to date behind a stack's page: that is the one with the cursor.
  put_list(lines, rows, columns, moment, symbolizer);
}

void View::put_list(ScreenLines& lines, std::size_t rows, std::size_t columns, const Moment& moment,
                    Symbolizer& symbolizer) {
  const bool with_titles = rows >= kRowsForTitles;
  const std::size_t above = lines.size() + (with_titles ? 1 : 0);
  const std::size_t room = rows - std::min(rows, above);
  list_.update(moment, symbolizer, filter_, state_.sort, state_.held(), std::max<std::size_t>(1, room));
  if (state_.page == Page::kStack) {
    if (const StackRecord* const stack = selected_stack(moment.now)) {
      return put_page(lines, rows,
                      stack_page(moment, *stack, state_.selected + 1, symbolizer, options_.role_of, state_.all_frames));
    }
    state_.page = Page::kList;
  }
  // One row says which part of a long list this is.
  const bool is_long = list_.size() > room;
  layout_.visible_rows = is_long && room > 1 ? room - 1 : room;
  layout_.all_rows = list_.size();
  scroll_to_cursor();
  if (list_.size() == 0) {
    lines.push_back({StyledLine{}.add(empty_list_text(moment, state_))});
    return;
  }
  put_rows(lines, columns, with_titles, moment, symbolizer);
  if (is_long && room > 1) {
    lines.push_back(dim(fmt::format("stacks {} to {} of {}", moment.count(state_.first + 1),
                                    moment.count(std::min(state_.first + layout_.visible_rows, list_.size())),
                                    moment.count(list_.size()))));
  }
}

void View::put_rows(ScreenLines& lines, std::size_t columns, bool with_titles, const Moment& moment,
                    Symbolizer& symbolizer) {
  std::vector<const StackRecord*> shown;
  for (std::size_t rank = state_.first; rank < state_.first + layout_.visible_rows && rank < list_.order().size();
       ++rank) {
    if (const StackRecord* const stack = find_stack(moment.now, list_.order()[rank])) shown.push_back(stack);
  }
  const std::vector<ListRow> rows = list_rows(moment, shown);
  NumberColumns cells = list_columns(rows, moment, state_.sort);
  cells.drop(columns, kNamesColumns);
  const CallTable calls(moment.now, shown, symbolizer, options_.role_of);
  RowNames names(shown, calls);
  if (with_titles) put_titles(lines, cells);
  layout_.first_row = lines.size();
  names.distinguish(columns - std::min(columns, cells.width()));
  for (std::size_t index = 0; index < rows.size(); ++index) {
    StyledLine line;
    cells.add_cells(line, index);
    names.add(line, index, columns);
    lines.push_back({line, state_.first + index == state_.selected});
  }
}

void View::put_titles(ScreenLines& lines, const NumberColumns& columns) {
  StyledLine titles;
  for (const TitleSpan& span : columns.title_spans()) {
    if (const std::optional<ScreenSort> sort = sort_by_title(span.title)) {
      layout_.titles.push_back({span.first_column, span.end_column, *sort});
    }
  }
  columns.add_titles(titles);
  const std::size_t names = titles.width();
  const bool by_name = state_.sort == ScreenSort::kFunction;
  titles.add(by_name ? "FUNCTION▲" : "FUNCTION", by_name ? Style::kStrong : Style::kDim).add(" < CALLERS", Style::kDim);
  layout_.titles.push_back({names, titles.width(), ScreenSort::kFunction});
  layout_.title_row = lines.size();
  lines.push_back({titles});
}

void View::put_page(ScreenLines& lines, std::size_t rows, const ScreenLines& page) {
  layout_.first_row = lines.size();
  layout_.visible_rows = rows - std::min(rows, lines.size());
  layout_.all_rows = page.size();
  const std::size_t last_first = page.size() - std::min(page.size(), layout_.visible_rows);
  state_.page_first = std::min(state_.page_first, last_first);
  const std::size_t end = std::min(page.size(), state_.page_first + layout_.visible_rows);
  for (std::size_t index = state_.page_first; index < end; ++index) lines.push_back(page[index]);
}

void View::scroll_to_cursor() {
  const std::size_t all = list_.size();
  const std::size_t visible = std::max<std::size_t>(1, layout_.visible_rows);
  state_.selected = std::min(state_.selected, all - std::min<std::size_t>(all, 1));
  if (state_.first + visible <= state_.selected) state_.first = state_.selected + 1 - visible;
  state_.first = std::min({state_.first, state_.selected, all - std::min(all, visible)});
}

const StackRecord* View::selected_stack(const Snapshot& now) const {
  if (state_.selected >= list_.order().size()) return nullptr;
  return find_stack(now, list_.order()[state_.selected]);
}

}  // namespace hawk
