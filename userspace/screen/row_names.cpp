#include "userspace/screen/row_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "userspace/report/display_text.h"
#include "userspace/report/frame_list.h"

namespace hawk {
namespace {

constexpr std::size_t kMinCallerColumns = 12;  // a caller's name shorter than this says nothing
constexpr std::string_view kCalledBy = " < ";
constexpr std::string_view kBefore = " < … ";  // what tells equal lines apart comes behind it
constexpr std::size_t kBeforeColumns = 5;

}  // namespace

RowNames::Row RowNames::make_row(const StackRecord& stack, const CallTable& calls) {
  Row row;
  const FrameList frames = calls.list(stack);
  for (const ShownFrame& shown : fold_frames(frames, 0)) {
    if (shown.frame == nullptr) continue;
    const std::string times = shown.times > 1 ? fmt::format(" ×{}", shown.times) : "";
    row.calls.push_back({shown.frame->name + times, source_place(shown.frame->source, 1)});
  }
  for (const ListedFrame* frame : frames) {
    const std::string& name = frame->name;
    const std::string place = source_place(frame->source, 1);
    row.exact.emplace_back(place.empty() ? name : fmt::format("{} {}", name, place), frame->place.address);
  }
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
    const auto& [name, place] = names.calls[index];
    const bool first = index == 0;
    // The function that decides, and where it is; of what tells lines apart the place may go.
    const bool with_place = first && !place.empty() && (kept == 0 || display_width(name + place) + 1 <= room());
    const std::size_t beside = with_place ? 1 + display_width(place) : first ? 0 : kCalledBy.size();
    const std::size_t min_columns = first ? 0 : std::min(display_width(name), kMinCallerColumns);
    if (room() < beside + min_columns) {
      if (first) line.add(shorten_middle(name, room()));
      break;
    }
    if (!first) line.add(kCalledBy, Style::kDim);
    line.add(shorten_middle(name, room() - (first ? beside : 0)), first ? Style::kPlain : Style::kDim);
    if (with_place) line.add(" " + place, Style::kDim);
  }
  if (kept != 0) {
    line.add(kBefore, Style::kDim).add(shorten_middle(names.difference, kept - kBeforeColumns), Style::kDim);
  }
}

std::size_t RowNames::columns_for_difference(const Row& names, std::size_t columns) {
  if (names.difference.empty() || names.calls.empty()) return 0;
  const std::size_t wanted = kBeforeColumns + display_width(names.difference);
  const std::size_t name = std::min(display_width(names.calls.front().name), columns / 2);
  const std::size_t kept = std::min(wanted, columns - name);
  return kept > kBeforeColumns ? kept : 0;
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

void RowNames::tell_apart(std::size_t columns) {
  for (const std::vector<std::size_t>& equal : equal_lines(columns)) add_difference(equal, "");
  // Stacks that differ in several calls, none of which tells all of them apart.
  for (const std::vector<std::size_t>& equal : equal_lines(columns)) {
    for (const std::size_t row : equal) rows_[row].difference = fmt::format("stack {}", rows_[row].id);
  }
}

RowNames::ExactCall RowNames::exact_call(std::size_t row, std::size_t depth) const {
  const std::vector<ExactCall>& calls = rows_[row].exact;
  return depth < calls.size() ? calls[depth] : ExactCall("(no further caller)", 0);
}

/// The first call in which not all of `rows` are equal: by what it is called if there is one, else by its address.
std::optional<std::size_t> RowNames::first_difference(const std::vector<std::size_t>& rows) const {
  std::size_t deepest = 0;
  for (const std::size_t row : rows) deepest = std::max(deepest, rows_[row].exact.size());
  const auto differs = [&](std::size_t depth, bool by_name) {
    const ExactCall first = exact_call(rows.front(), depth);
    return std::any_of(rows.begin(), rows.end(), [&](std::size_t row) {
      const ExactCall call = exact_call(row, depth);
      return by_name ? call.first != first.first : call != first;
    });
  };
  for (const bool by_name : {true, false}) {
    for (std::size_t depth = 0; depth < deepest; ++depth) {
      if (differs(depth, by_name)) return depth;
    }
  }
  return std::nullopt;
}

/// Splits the rows at the first call in which not all of them are equal, and each part again. `before`: what all of
/// them differ in from other rows.
void RowNames::add_difference(const std::vector<std::size_t>& equal, const std::string& before) {
  const std::optional<std::size_t> depth = first_difference(equal);
  if (!depth) return;
  std::map<ExactCall, std::vector<std::size_t>> parts;
  std::map<std::string, std::size_t> parts_of_name;
  for (const std::size_t row : equal) parts[exact_call(row, *depth)].push_back(row);
  for (const auto& [call, part] : parts) ++parts_of_name[call.first];
  for (const auto& [call, part] : parts) {
    const auto& [name, address] = call;
    std::string text = before.empty() ? "" : before + std::string(kBefore);
    text += parts_of_name[name] == 1 ? name : fmt::format("{} {:#x}", name, address);
    for (const std::size_t row : part) rows_[row].difference = text;
    if (part.size() > 1) add_difference(part, text);
  }
}

}  // namespace hawk
