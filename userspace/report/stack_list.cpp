#include "userspace/report/stack_list.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>

#include "userspace/report/display_text.h"
#include "userspace/report/lives_text.h"
#include "userspace/report/units.h"

namespace hawk {
namespace {

constexpr std::size_t kFrameIndent = 6;
constexpr std::size_t kHeadlineIndent = 13;  // behind rank and share; the pieces begin with a space
constexpr std::size_t kMinNameColumns = 24;  // a function's name is not shortened further for the sake of its file
constexpr std::size_t kEllipsisBytes = 3;    // of the one character
constexpr std::size_t kMinShared = 3;        // fewer frames that stacks share are shown again

/// What a reader must know of a call beside its name.
std::string marks_of(const ListedFrame& listed) {
  if (listed.source.inlined) return " (inlined)";
  return listed.location.interrupted ? " (interrupted by a signal)" : "";
}

}  // namespace

StackList::StackList(TextPage& page, const Snapshot& snapshot, const CallTable& calls, const UnwindText& unwind,
                     SymbolGaps& gaps)
    : page_(page), snapshot_(snapshot), calls_(calls), unwind_(unwind), gaps_(gaps), call_lines_(calls.size()) {}

/// "live 8.79 KiB in 3 blocks".
std::string StackList::amount_text(const Counters& counters, Quantity quantity) const {
  std::string text(quantity_name(quantity));
  text.append(1, ' ').append(page_.bytes(bytes_of(counters, quantity)));
  return text.append(" in ").append(page_.blocks(blocks_of(counters, quantity)));
}

void StackList::put_headline(std::size_t rank, const StackRecord& record) {
  const Counters& counters = record.counters;
  const Quantity sorted = quantity_of(page_.options().selection.sort);
  const std::uint64_t part = sort_value(counters, page_.options().selection.sort);
  const std::uint64_t whole = sort_value(snapshot_.totals, page_.options().selection.sort);
  StyledLine line;
  line.add(align_left('#' + format_count(rank, NumberStyle::kRaw), 4), Style::kStrong);
  line.add(align_right(format_share(part, whole), 8)).add("  " + amount_text(counters, sorted), Style::kStrong);
  const std::uint64_t average = average_bytes(bytes_of(counters, sorted), blocks_of(counters, sorted));
  std::vector<std::string> pieces = {" average " + page_.bytes(average)};
  for (const Quantity other : {Quantity::kLive, Quantity::kAllocated}) {
    if (other == sorted) continue;
    pieces.back() += ";";
    pieces.push_back(' ' + amount_text(counters, other));
  }
  line.add(",");
  for (const std::string& piece : pieces) {
    if (page_.options().width != 0 && line.width() + piece.size() > page_.options().width) {
      page_.put(line);
      line = StyledLine{}.add(std::string(kHeadlineIndent, ' '));
    }
    line.add(piece);
  }
  page_.put(line);
}

/// One line, where the lives of blocks were counted.
void StackList::put_lives(const StackRecord& record) {
  if (!snapshot_.lives) return;
  const std::vector<StackLives>& all = *snapshot_.lives;
  const auto first = std::lower_bound(all.begin(), all.end(), record.id,
                                      [](const StackLives& own, StackId wanted) { return own.stack < wanted; });
  const auto last = std::find_if(first, all.end(), [&](const StackLives& own) { return own.stack != record.id; });
  const std::string text = lives_text(page_, {first, last});
  if (!text.empty()) page_.put_wrapped(std::string(kFrameIndent, ' ') + text, kFrameIndent + 2, Style::kDim);
}

void StackList::put(std::size_t rank, const StackRecord& record) {
  put_headline(rank, record);
  put_lives(record);
  FrameList listed = calls_.list(record);
  gaps_.add(record, listed);
  if (listed.empty()) page_.put(std::string(kFrameIndent, ' ') + no_frames_text(record.id));
  if (page_.options().full_stacks) {
    for (const ShownFrame& line : unfolded_frames(listed)) put_call(line);
  } else if (!listed.empty()) {
    folded_any_ = folded_any_ || deciding_frame(listed) != 0;
    const SharedCalls shared = shared_calls(rank, record, listed);
    listed.resize(listed.size() - shared.count);
    for (const ShownFrame& line : fold_frames(listed, page_.options().max_frames)) put_call(line);
    if (shared.count != 0) {
      std::string text(kFrameIndent, ' ');
      text.append("… ").append(format_count(shared.count, NumberStyle::kRaw)).append(" frames as in #");
      text.append(format_count(shared.rank, NumberStyle::kRaw));
      page_.put_dim(text, text.size() - kEllipsisBytes + 1);
    }
  }
  page_.put_rendered(end_line(record));
  page_.put("");
}

StackList::SharedCalls StackList::shared_calls(std::size_t rank, const StackRecord& record, const FrameList& listed) {
  const SharedFrames::Shared shared = shared_.add(rank, record.frames);
  if (shared.locations == 0) return {};
  const std::size_t own = calls_.count(record, record.frames.size() - shared.locations);
  // What decides is never left to another stack.
  const std::size_t shown = std::max(own, deciding_frame(listed) + 1);
  const std::size_t count = listed.size() - shown;
  return count < kMinShared ? SharedCalls{} : SharedCalls{.rank = shared.rank, .count = count};
}

void StackList::put_call(const ShownFrame& line) {
  if (line.frame != nullptr && line.times == 1) {
    std::string& text = call_lines_[calls_.number_of(*line.frame)];
    if (text.empty()) text = frame_line(*line.frame, 1);
    page_.put_rendered(text);
  } else if (line.frame != nullptr) {
    folded_any_ = true;
    std::string& text = repeated_lines_[{calls_.number_of(*line.frame), line.times}];
    if (text.empty()) text = frame_line(*line.frame, line.times);
    page_.put_rendered(text);
  } else {
    folded_any_ = folded_any_ || line.why != LeftOut::kTooMany;
    std::string& text = left_out_lines_[{line.why, line.left_out_count, line.times, line.lines}];
    if (text.empty()) {
      text = page_.rendered(StyledLine{}.add(std::string(kFrameIndent, ' ') + left_out_text(line), Style::kDim));
    }
    page_.put_rendered(text);
  }
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

std::string StackList::frame_line(const ListedFrame& listed, std::size_t times) const {
  if (page_.options().full_stacks) return full_frame_line(listed);
  StyledLine line;
  line.add(std::string(kFrameIndent, ' '));
  const std::string position = source_position(listed.source, 2);
  std::string mark = marks_of(listed);
  if (times > 1) mark += fmt::format(" ×{}", times);
  const std::size_t width = page_.options().width;
  const std::size_t beside = line.width() + display_width(mark) + (position.empty() ? 0 : 2 + display_width(position));
  const std::size_t room = width == 0 ? kMaxNameColumns : std::max(width - std::min(width, beside), kMinNameColumns);
  line.add(shorten_middle(listed.name, room)).add(mark);
  if (!position.empty()) line.add("  ").add(position, Style::kDim);
  return page_.rendered(line);
}

/// Everything, whatever its length: the terminal breaks the line.
std::string StackList::full_frame_line(const ListedFrame& listed) const {
  StyledLine line;
  line.add(std::string(kFrameIndent, ' ')).add(fmt::format("{:#018x}  ", listed.location.address), Style::kDim);
  line.add(frame_name(listed.location, listed.source, snapshot_)).add(marks_of(listed));
  std::string position = source_position(listed.source, 0);
  const std::string module = listed.source.function.empty() ? "" : module_position(listed.location, snapshot_, true);
  if (!module.empty()) position += fmt::format("{}({})", position.empty() ? "" : "  ", module);
  if (!position.empty()) line.add("  ").add(position, Style::kDim);
  return line.render(0, page_.options().color) + "\n";
}

}  // namespace hawk
