#include "userspace/views/view_notes.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "userspace/report/display_text.h"
#include "userspace/report/number_columns.h"
#include "userspace/report/quantity.h"
#include "userspace/report/styled_line.h"

namespace hawk {
namespace {

/// "2 stacks {}, live 1.50 KiB in 3 blocks (<0.1 %)".
std::string sum_text(const TextPage& page, const Snapshot& snapshot, const StackSum& sum, const std::string& why) {
  const SortKey sort = page.options().selection.sort;
  const Quantity quantity = quantity_of(sort);
  return fmt::format("{} {}, {} {} in {} ({})", format_stacks(sum.stacks, page.style()), why, quantity_name(quantity),
                     page.bytes(bytes_of(sum.counters, quantity)), page.blocks(blocks_of(sum.counters, quantity)),
                     format_share(sort_value(sum.counters, sort), sort_value(snapshot.totals, sort)));
}

}  // namespace

std::string filter_text(const FrameFilter& filter) {
  std::string text;
  const auto add = [&](const char* option, const std::optional<CallPattern>& pattern) {
    if (pattern) text += fmt::format("{}{} '{}'", text.empty() ? "" : ", ", option, pattern->text());
  };
  add("--focus", filter.focus);
  add("--ignore", filter.ignore);
  add("--hide", filter.hide);
  return text;
}

std::string narrowing_text(const FrameFilter& filter) {
  if (filter.is_empty()) return {};
  std::string text = filter_text(filter);
  if (filter.suppressions != nullptr) {
    text += fmt::format("{}--suppressions '{}'", text.empty() ? "" : ", ", filter.suppressions->path);
  }
  return fmt::format("filtered by {}", text);
}

void put_view_notes(TextPage& page, const Snapshot& snapshot, const StackView& view, const FrameFilter& filter) {
  if (view.left_out.stacks != 0) {
    const std::string why = fmt::format("left out by {}", filter_text(filter));
    page.put_wrapped(fmt::format("… {}", sum_text(page, snapshot, view.left_out, why)), 2);
  } else if (filter.focus || filter.ignore) {
    page.put_wrapped(fmt::format("… no stack left out by {}", filter_text(filter)), 2, Style::kDim);
  }
  if (view.suppressed.stacks != 0) {
    page.put_wrapped(
        fmt::format("… {}; the totals below include {}", sum_text(page, snapshot, view.suppressed, "suppressed"),
                    view.suppressed.stacks == 1 ? "it" : "them"),
        2);
  } else if (filter.suppressions != nullptr) {
    page.put("… no stack suppressed", Style::kDim);
  }
  if (filter.hide) {
    page.put_wrapped(fmt::format("… calls that match --hide '{}' are left out of the stacks", filter.hide->text()), 2,
                     Style::kDim);
  }
}

void put_suppressions(TextPage& page, const StackView& view, const FrameFilter& filter) {
  if (view.suppressed.stacks == 0) return;
  std::vector<std::size_t> used;
  for (std::size_t rule = 0; rule < view.by_rule.size(); ++rule) {
    if (view.by_rule[rule].stacks != 0) used.push_back(rule);
  }
  const auto sum = [&](std::size_t row) -> const StackSum& { return view.by_rule[used[row]]; };
  NumberColumns columns(used.size());
  columns.add({.title = "STACKS", .keep = 3}, [&](std::size_t row) { return page.count(sum(row).stacks); });
  columns.add({.title = "LIVE", .keep = 5},
              [&](std::size_t row) { return page.bytes(sum(row).counters.live_bytes()); });
  columns.add({.title = "BLOCKS", .keep = 4},
              [&](std::size_t row) { return page.count(sum(row).counters.live_count()); });
  columns.add({.title = "ALLOCATED", .keep = 2},
              [&](std::size_t row) { return page.bytes(sum(row).counters.allocated_bytes); });
  page.put_wrapped(fmt::format("suppressed by {}", filter.suppressions->path), 2, Style::kStrong);
  StyledLine titles;
  columns.add_titles(titles);
  page.put(titles.add("RULE", Style::kDim));
  for (std::size_t row = 0; row < used.size(); ++row) {
    StyledLine line;
    columns.add_cells(line, row);
    page.put(line.add("leak:" + filter.suppressions->rules[used[row]].text()));
  }
  if (const std::size_t unused = view.by_rule.size() - used.size(); unused != 0) {
    page.put(fmt::format("… {} {} matched nothing", page.count(unused), unused == 1 ? "rule" : "rules"), Style::kDim);
  }
  page.put("");
}

}  // namespace hawk
