#include "userspace/views/group_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "userspace/report/display_text.h"
#include "userspace/report/number_columns.h"
#include "userspace/report/quantity.h"
#include "userspace/report/styled_line.h"
#include "userspace/views/call_groups.h"

namespace hawk {
namespace {

constexpr std::size_t kMinNameColumns = 22;

/// How a column of one half of the table, self or cumulative, is called.
struct HalfTitles {
  const char* bytes;
  const char* blocks;
  const char* share;
};
constexpr HalfTitles kSelfTitles = {"SELF", "BLOCKS", "SELF %"};
constexpr HalfTitles kTargetTitles = {"BYTES", "BLOCKS", "SHARE"};
constexpr HalfTitles kCumulativeTitles = {"CUMUL", "BLOCKS", "CUMUL %"};

class GroupTable {
 public:
  GroupTable(TextPage& page, const Snapshot& snapshot, const StackView& view, const Grouping& grouping)
      : page_(page),
        snapshot_(snapshot),
        view_(view),
        grouping_(grouping),
        sort_(page.options().selection.sort),
        quantity_(quantity_of(sort_)) {}

  void put(std::vector<CallGroup> groups) {
    const std::size_t all = groups.size();
    std::erase_if(groups, [&](const CallGroup& group) { return blocks_of(group.cumulative.counters, quantity_) == 0; });
    const std::size_t without = all - groups.size();
    const std::size_t with = groups.size();
    select_groups(groups, page_.options().selection, grouping_.cumulative_first);
    page_.put_wrapped(fmt::format("top {} of {} by {}{}", groups.size(), group_count(with, grouping_.by),
                                  grouping_.cumulative_first ? "cumulative " : "", sort_key_words(sort_)),
                      2, Style::kStrong);
    if (!groups.empty()) rows(groups);
    if (with != groups.size()) {
      page_.put(fmt::format("… {}; --top 0{} shows all", group_count(with - groups.size(), grouping_.by, true),
                            page_.options().selection.min_size_bytes != 0 ? " --min-size 0" : ""));
    }
    if (without != 0) {
      page_.put(fmt::format("… {} with nothing {}", group_count(without, grouping_.by), quantity_name(quantity_)),
                Style::kDim);
    }
  }

 private:
  const Counters& counters(const std::vector<CallGroup>& groups, std::size_t row, bool cumulative) const {
    if (row == groups.size()) return view_.shown.counters;
    return (cumulative ? groups[row].cumulative : groups[row].self).counters;
  }

  void add_half(NumberColumns& columns, const std::vector<CallGroup>& groups, bool cumulative) const {
    const HalfTitles& of_calls = cumulative ? kCumulativeTitles : kSelfTitles;
    const HalfTitles& titles = is_of_targets(grouping_.by) ? kTargetTitles : of_calls;
    const bool is_first = cumulative == grouping_.cumulative_first || is_of_targets(grouping_.by);
    const bool by_blocks = sort_ != SortKey::kLive && sort_ != SortKey::kAllocated;
    const int keep = is_first ? 4 : 0;
    columns.add({.title = titles.bytes, .keep = keep + 4, .sorted = is_first && !by_blocks},
                [&](std::size_t row) { return page_.bytes(bytes_of(counters(groups, row, cumulative), quantity_)); });
    columns.add({.title = titles.blocks, .keep = keep + 2, .sorted = is_first && by_blocks},
                [&](std::size_t row) { return page_.count(blocks_of(counters(groups, row, cumulative), quantity_)); });
    columns.add({.title = titles.share, .keep = keep + 3}, [&](std::size_t row) {
      return format_share(sort_value(counters(groups, row, cumulative), sort_), sort_value(snapshot_.totals, sort_));
    });
  }

  void rows(const std::vector<CallGroup>& groups) {
    NumberColumns columns(groups.size() + 1);
    columns.add({.title = "#", .keep = 1},
                [&](std::size_t row) { return row < groups.size() ? fmt::format("{}", row + 1) : ""; });
    add_half(columns, groups, false);
    if (!is_of_targets(grouping_.by)) add_half(columns, groups, true);
    const std::size_t width = page_.options().width;
    if (width != 0) columns.drop(width, kMinNameColumns);
    StyledLine titles;
    columns.add_titles(titles);
    const std::size_t room =
        width == 0 ? kMaxNameColumns : std::max<std::size_t>(width - std::min(width, titles.width()), 1);
    page_.put(titles.add(title(), Style::kDim));
    for (std::size_t row = 0; row < groups.size() && page_.go_on(); ++row) {
      StyledLine line;
      columns.add_cells(line, row);
      add_name(line, groups[row], room);
      page_.put(line);
    }
    StyledLine total;
    columns.add_cells(total, groups.size());
    page_.put(total.add(fmt::format("total of {}", format_stacks(view_.shown.stacks, page_.style())), Style::kStrong));
  }

  std::string title() const {
    if (grouping_.by == GroupKind::kCaller) return "FUNCTION < CALLER";
    std::string title(group_kind_name(grouping_.by));
    std::transform(title.begin(), title.end(), title.begin(), [](char letter) {
      return letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 32) : letter;
    });
    return title;
  }

  void add_name(StyledLine& line, const CallGroup& group, std::size_t room) const {
    const bool is_short = !page_.options().full_stacks;
    const std::string name = group_name(group, grouping_.by, snapshot_, is_short);
    const std::string position = group_position(group, grouping_.by, snapshot_);
    line.add(is_short ? shorten_middle(name, room) : name);
    if (!position.empty() && display_width(name) + 2 + display_width(position) <= room) {
      line.add("  ").add(position, Style::kDim);
    }
  }

  TextPage& page_;
  const Snapshot& snapshot_;
  const StackView& view_;
  const Grouping& grouping_;
  const SortKey sort_;
  const Quantity quantity_;
};

}  // namespace

void put_group_table(TextPage& page, const Snapshot& snapshot, const StackView& view, const CallTable& calls,
                     const Grouping& grouping) {
  GroupTable(page, snapshot, view, grouping)
      .put(group_calls(view, calls, snapshot, grouping.by, page.options().full_stacks));
}

}  // namespace hawk
