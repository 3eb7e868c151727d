#include "userspace/screen/row_names.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <utility>

#include "userspace/report/display_text.h"
#include "userspace/report/frame_list.h"
#include "userspace/report/stack_differences.h"

namespace hawk {
namespace {

constexpr std::size_t kMinCallerColumns = 12;  // a caller's name shorter than this says nothing
constexpr std::string_view kCalledBy = " < ";
constexpr std::size_t kMinDifferenceColumns = 6;  // what distinguishes equal lines says nothing in fewer
constexpr std::size_t kMaxDifferences = 4;        // calls that are named for it

}  // namespace

RowNames::Row RowNames::make_row(const StackRecord& stack, const CallTable& calls) {
  Row row;
  const FrameList frames = calls.list(stack);
  const std::size_t naming = naming_frame(frames);
  for (const ShownFrame& shown : fold_frames(frames, 0)) {
    if (shown.frame == nullptr || shown.index < naming) continue;
    const std::string times = shown.times > 1 ? fmt::format(" ×{}", shown.times) : "";
    row.calls.push_back({shown.frame->name + times, source_position(shown.frame->source, 1)});
  }
  row.frames = frames;
  row.otherwise = no_frames_text(stack.id);
  row.id = static_cast<std::uint32_t>(stack.id);
  return row;
}

RowNames::RowNames(const std::vector<const StackRecord*>& stacks, const CallTable& calls) {
  rows_.reserve(stacks.size());
  for (const StackRecord* stack : stacks) rows_.push_back(make_row(*stack, calls));
}

void RowNames::add(StyledLine& line, std::size_t row, std::size_t columns) const {
  const Row& names = rows_[row];
  const std::size_t all = columns - std::min(columns, line.width());
  const std::size_t kept = columns_for_difference(names, all);
  const auto room = [&] { return columns - std::min(columns, line.width() + kept); };
  if (names.calls.empty()) line.add(shorten_end(names.otherwise, room()));
  for (std::size_t index = 0; index < names.calls.size(); ++index) {
    const auto& [name, position] = names.calls[index];
    const bool first = index == 0;
    // The function that decides, and where it is; of what distinguishes lines the position may go.
    const bool with_position =
        first && !position.empty() && (kept == 0 || display_width(name + position) + 1 <= room());
    const std::size_t beside = with_position ? 1 + display_width(position) : first ? 0 : kCalledBy.size();
    const std::size_t min_columns = first ? 0 : std::min(display_width(name), kMinCallerColumns);
    if (room() < beside + min_columns) {
      if (first) line.add(shorten_middle(name, room()));
      break;
    }
    if (!first) line.add(kCalledBy, Style::kDim);
    line.add(shorten_middle(name, room() - (first ? beside : 0)), first ? Style::kPlain : Style::kDim);
    if (with_position) line.add(" " + position, Style::kDim);
  }
  if (kept != 0) line.add(shorten_middle(names.difference, kept), Style::kDim);
}

std::size_t RowNames::columns_for_difference(const Row& names, std::size_t columns) {
  if (names.difference.empty() || names.calls.empty()) return 0;
  const std::size_t name = std::min(display_width(names.calls.front().name), columns / 2);
  const std::size_t kept = std::min(display_width(names.difference), columns - name);
  return kept >= kMinDifferenceColumns ? kept : 0;
}

std::vector<std::vector<std::size_t>> RowNames::equal_lines(std::size_t columns) const {
  std::map<std::string, std::vector<std::size_t>> lines;
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    StyledLine line;
    add(line, row, columns);
    lines[line.render(0, false)].push_back(row);
  }
  std::vector<std::vector<std::size_t>> equal;
  for (auto& [text, rows] : lines) {
    if (rows.size() > 1) equal.push_back(std::move(rows));
  }
  return equal;
}

void RowNames::distinguish(std::size_t columns) {
  const std::vector<std::vector<std::size_t>> all_equal = equal_lines(columns);
  if (all_equal.empty()) return;
  for (const std::vector<std::size_t>& equal : all_equal) add_differences(equal);
  // Stacks that differ in several calls, none of which distinguishes all of them.
  for (const std::vector<std::size_t>& equal : equal_lines(columns)) {
    for (const std::size_t row : equal) rows_[row].difference = fmt::format(" (stack {})", rows_[row].id);
  }
}

void RowNames::add_differences(const std::vector<std::size_t>& equal) {
  std::vector<FrameList> stacks;
  stacks.reserve(equal.size());
  for (const std::size_t row : equal) stacks.push_back(rows_[row].frames);
  std::vector<std::string> differences = distinguish_stacks(stacks, kMaxDifferences);
  for (std::size_t index = 0; index < equal.size(); ++index) {
    rows_[equal[index]].difference = std::move(differences[index]);
  }
}

}  // namespace hawk
