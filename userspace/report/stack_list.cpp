#include "userspace/report/stack_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "userspace/report/display_text.h"
#include "userspace/report/units.h"

namespace hawk {
namespace {

constexpr std::size_t kFrameIndent = 6;
constexpr std::size_t kHeadlineIndent = 13;  // behind rank and share; the pieces begin with a space
constexpr std::size_t kMinNameColumns = 24;  // a function's name is not shortened further for the sake of its file

}  // namespace

StackList::StackList(TextPage& page, const Snapshot& snapshot, const CallTable& calls, const UnwindText& unwind,
                     SymbolGaps& gaps)
    : page_(page), snapshot_(snapshot), calls_(calls), unwind_(unwind), gaps_(gaps), call_lines_(calls.size()) {}

void StackList::put_headline(std::size_t rank, const StackRecord& record) {
  const Counters& counters = record.counters;
  const Quantity sorted = quantity_of(page_.options().selection.sort);
  const std::uint64_t part = sort_value(counters, page_.options().selection.sort);
  const std::uint64_t whole = sort_value(snapshot_.totals, page_.options().selection.sort);
  const std::uint64_t sorted_bytes = bytes_of(counters, sorted);
  const std::uint64_t sorted_blocks = blocks_of(counters, sorted);
  StyledLine line;
  line.add(align_left(fmt::format("#{}", rank), 4), Style::kStrong).add(align_right(format_share(part, whole), 8));
  line.add(fmt::format("  {} {} in {}", quantity_name(sorted), page_.bytes(sorted_bytes), page_.blocks(sorted_blocks)),
           Style::kStrong);
  std::vector<std::string> pieces = {
      fmt::format(", average {}", page_.bytes(average_bytes(sorted_bytes, sorted_blocks)))};
  for (const Quantity other : {Quantity::kLive, Quantity::kAllocated}) {
    if (other == sorted) continue;
    pieces.back() += ";";
    pieces.push_back(fmt::format(" {} {} in {}", quantity_name(other), page_.bytes(bytes_of(counters, other)),
                                 page_.blocks(blocks_of(counters, other))));
  }
  for (const std::string& piece : pieces) {
    if (page_.options().width != 0 && line.width() + piece.size() > page_.options().width) {
      page_.put(line);
      line = StyledLine{}.add(std::string(kHeadlineIndent, ' '));
    }
    line.add(piece);
  }
  page_.put(line);
}

void StackList::put(std::size_t rank, const StackRecord& record) {
  put_headline(rank, record);
  const std::string indent(kFrameIndent, ' ');
  const FrameList listed = calls_.list(record);
  gaps_.add(record, listed);
  if (listed.empty()) page_.put(indent + no_frames_text(record.id));
  const std::vector<ShownFrame> shown =
      page_.options().full_stacks ? unfolded_frames(listed) : fold_frames(listed, page_.options().max_frames);
  for (const ShownFrame& line : shown) {
    if (line.frame != nullptr) {
      std::string& text = call_lines_[calls_.number_of(*line.frame)];
      if (text.empty()) text = frame_line(*line.frame);
      page_.put_rendered(text);
      continue;
    }
    folded_any_ = folded_any_ || line.why == LeftOut::kPlumbing;
    std::string& text = left_out_lines_[{line.why, line.left_out_count}];
    if (text.empty()) text = page_.rendered(StyledLine{}.add(indent + left_out_text(line), Style::kDim));
    page_.put_rendered(text);
  }
  page_.put_rendered(end_line(record));
  page_.put("");
}

const std::string& StackList::end_line(const StackRecord& record) {
  std::optional<std::string>& text = end_lines_[{record.id == kNoStack, record.quality(), record.end}];
  if (text) return *text;
  text.emplace();
  const std::string mark = unwind_.end_mark(record);
  if (mark.empty()) return *text;
  for (const std::string& line :
       wrap_words(std::string(kFrameIndent, ' ') + mark, page_.options().width, kFrameIndent + 2)) {
    *text += page_.rendered(StyledLine{}.add(line, Style::kDim));
  }
  return *text;
}

std::string StackList::frame_line(const ListedFrame& listed) const {
  StyledLine line;
  line.add(std::string(kFrameIndent, ' '));
  if (page_.options().full_stacks) line.add(fmt::format("{:#018x}  ", listed.place.address), Style::kDim);
  std::string place = source_place(listed.source, page_.options().full_stacks ? 0 : 2);
  if (page_.options().full_stacks && !listed.source.function.empty()) {
    const std::string module = module_place(listed.place, snapshot_, true);
    if (!module.empty()) place += fmt::format("{}({})", place.empty() ? "" : "  ", module);
  }
  const bool interrupted = listed.place.interrupted && !listed.source.inlined;
  const std::string_view mark = listed.source.inlined ? " (inlined)" : interrupted ? " (interrupted by a signal)" : "";
  const std::string name = frame_name(listed, snapshot_);
  const std::size_t beside = line.width() + mark.size() + (place.empty() ? 0 : 2 + display_width(place));
  const std::size_t room = page_.options().width > beside ? page_.options().width - beside : 0;
  line.add(page_.options().width == 0 ? name : shorten_middle(name, std::max(room, kMinNameColumns))).add(mark);
  if (!place.empty()) line.add("  ").add(place, Style::kDim);
  return page_.rendered(line);
}

}  // namespace hawk
