#include "userspace/report/target_lines.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "userspace/report/number_columns.h"
#include "userspace/report/quantity.h"
#include "userspace/report/styled_line.h"
#include "userspace/report/units.h"
#include "userspace/report/verdict.h"
#include "userspace/tables/selection.h"

namespace hawk {
namespace {

constexpr std::size_t kMostLines = 10;
constexpr std::size_t kMostNames = 8;

std::string name_of(const TargetInfo& target) {
  return fmt::format("{} (pid {})", target.comm.empty() ? "(unnamed)" : target.comm, target.pid);
}

bool all_have_the_same(const Snapshot& snapshot, std::string TargetInfo::*text) {
  return std::all_of(snapshot.targets.begin(), snapshot.targets.end(),
                     [&](const TargetInfo& target) { return target.*text == snapshot.targets.front().*text; });
}

/// The root says nothing.
bool tells(const std::string& cgroup) { return !cgroup.empty() && cgroup != "/"; }

class TargetLines {
 public:
  TargetLines(TextPage& page, const Snapshot& snapshot)
      : page_(page),
        snapshot_(snapshot),
        quantity_(quantity_of(page.options().selection.sort)),
        descriptions_(snapshot) {}

  void put() {
    const std::vector<std::size_t> order = largest_first();
    const std::size_t count = std::min(order.size(), kMostLines);
    const std::string common = descriptions_.common_text();
    if (!common.empty()) page_.put(common, Style::kDim);
    NumberColumns columns(count);
    const auto& totals = [&](std::size_t row) -> const Counters& { return snapshot_.parts[order[row]].totals; };
    std::string title(quantity_name(quantity_));
    std::transform(title.begin(), title.end(), title.begin(),
                   [](char letter) { return static_cast<char>(letter - 'a' + 'A'); });
    columns.add({.title = title, .keep = 2, .min_width = 10},
                [&](std::size_t row) { return page_.bytes(bytes_of(totals(row), quantity_)); });
    columns.add({.title = "BLOCKS", .keep = 1},
                [&](std::size_t row) { return page_.count(blocks_of(totals(row), quantity_)); });
    StyledLine titles;
    columns.add_titles(titles);
    page_.put(titles.add("PROCESS", Style::kDim));
    for (std::size_t row = 0; row < count; ++row) {
      StyledLine line;
      columns.add_cells(line, row);
      descriptions_.add(line, order[row], page_.style());
      page_.put(line);
    }
    if (count < order.size()) put_others({order.begin() + static_cast<std::ptrdiff_t>(count), order.end()});
    put_ended();
  }

 private:
  std::vector<std::size_t> largest_first() const {
    std::vector<std::size_t> order(snapshot_.parts.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const SortKey sort = page_.options().selection.sort;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return sort_value(snapshot_.parts[a].totals, sort) > sort_value(snapshot_.parts[b].totals, sort);
    });
    return order;
  }

  void put_others(const std::vector<std::size_t>& others) {
    Counters sum;
    std::string inexact;
    std::size_t inexact_count = 0;
    for (const std::size_t index : others) {
      sum += snapshot_.parts[index].totals;
      if (snapshot_.parts[index].numbers_exact()) continue;
      if (inexact_count < kMostNames) {
        inexact += fmt::format("{}{}", inexact_count == 0 ? "" : ", ", name_of(snapshot_.targets[index]));
      }
      ++inexact_count;
    }
    const std::string worth = inexact_count == 0 ? "the numbers of all are exact"
                                                 : fmt::format("{} NOT exact: {}{}", page_.count(inexact_count),
                                                               inexact, inexact_count > kMostNames ? ", ..." : "");
    page_.put_wrapped(
        fmt::format("… {} more process{}, {} {} in {}; {}; --by process --top 0 shows all", page_.count(others.size()),
                    others.size() == 1 ? "" : "es", quantity_name(quantity_), page_.bytes(bytes_of(sum, quantity_)),
                    page_.blocks(blocks_of(sum, quantity_)), worth),
        2);
  }

  void put_ended() {
    const auto ended = std::count_if(snapshot_.parts.begin(), snapshot_.parts.end(),
                                     [](const TargetPart& part) { return part.target_exited; });
    if (ended == 0) return;
    page_.put_wrapped(
        fmt::format("{} of {} processes ended during the trace: live includes what they held when they ended",
                    page_.count(static_cast<std::uint64_t>(ended)), page_.count(snapshot_.parts.size())),
        2);
  }

  TextPage& page_;
  const Snapshot& snapshot_;
  const Quantity quantity_;
  const TargetDescriptions descriptions_;
};

}  // namespace

TargetDescriptions::TargetDescriptions(const Snapshot& snapshot)
    : snapshot_(snapshot),
      same_exe_(all_have_the_same(snapshot, &TargetInfo::exe)),
      same_cgroup_(all_have_the_same(snapshot, &TargetInfo::cgroup)) {}

std::string TargetDescriptions::common_text() const {
  const TargetInfo& first = snapshot_.targets.front();
  std::string text;
  if (same_exe_ && !first.exe.empty()) text = "all run " + first.exe;
  if (same_cgroup_ && tells(first.cgroup)) text += (text.empty() ? "all in " : ", in ") + first.cgroup;
  return text;
}

void TargetDescriptions::add(StyledLine& line, std::size_t index, NumberStyle style) const {
  const TargetInfo& target = snapshot_.targets[index];
  const TargetPart& part = snapshot_.parts[index];
  line.add(name_of(target), Style::kStrong).add(": ");
  const Verdict worth = verdict(part, style);
  line.add(worth.text, worth.style);
  const std::string causes = inexact_causes_text(part, style);
  if (!causes.empty()) line.add(": " + causes);
  if (part.exec_count != 0) line.add("; numbers of its last program (exec)");
  if (part.target_exited) line.add("; ended");
  if (!same_exe_ && !target.exe.empty()) line.add("  " + target.exe, Style::kDim);
  if (!same_cgroup_ && tells(target.cgroup)) line.add("  in " + target.cgroup, Style::kDim);
}

void put_target_lines(TextPage& page, const Snapshot& snapshot) { TargetLines(page, snapshot).put(); }

}  // namespace hawk
