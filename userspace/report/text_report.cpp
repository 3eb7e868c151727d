#include "userspace/report/text_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "userspace/report/call_table.h"
#include "userspace/report/display_text.h"
#include "userspace/report/loss_block.h"
#include "userspace/report/quantity.h"
#include "userspace/report/styled_line.h"
#include "userspace/report/symbol_gaps.h"
#include "userspace/report/trap_costs.h"
#include "userspace/report/units.h"
#include "userspace/report/unwind_text.h"

namespace hawk {
namespace {

constexpr std::size_t kFrameIndent = 6;
constexpr std::size_t kProseColumns = 100;
constexpr std::size_t kHeadlineIndent = 13;  // behind rank and share; the pieces begin with a space
constexpr std::size_t kMinNameColumns = 24;  // a function's name is not shortened further for the sake of its file

/// Whether a stack has anything of the quantity asked for. A block of 0 bytes counts: it is there.
bool has_any(const StackRecord& stack, Quantity quantity) { return blocks_of(stack.counters, quantity) != 0; }

class TextReport {
 public:
  TextReport(const Snapshot& snapshot, Symbolizer& symbolizer, const TextOptions& options, const TextSink& sink)
      : snapshot_(snapshot),
        symbolizer_(symbolizer),
        options_(options),
        sink_(sink),
        style_(options.raw_bytes ? NumberStyle::kRaw : NumberStyle::kReadable),
        sorted_(quantity_of(options.selection.sort)),
        gaps_(told_in_shares()),
        unwind_(snapshot, told_in_shares()),
        shown_(shown_stacks()),
        calls_(snapshot, shown_, symbolizer, options.is_plumbing, options.before_symbolizing),
        call_lines_(calls_.size()) {}

  void write() {
    header();
    if (snapshot_.totals.allocated_count == 0) {
      nothing_allocated();
    } else {
      totals();
      stacks();
      incomplete_stacks();
      symbol_gaps();
    }
    losses();
    if (wanted_) flush();
  }

 private:
  void flush() {
    wanted_ = sink_(out_);
    out_.clear();
  }
  std::string rendered(const StyledLine& line) const { return line.render(options_.width, options_.color) + "\n"; }
  void put(const StyledLine& line) { out_ += rendered(line); }
  void put(std::string_view text, Style style = Style::kPlain) { put(StyledLine{}.add(text, style)); }
  /// Sentences and numbers are wrapped where names are shortened: nothing that was counted may be cut off.
  void put_wrapped(std::string_view text, std::size_t indent, Style style = Style::kPlain) {
    for (const std::string& line : wrap_words(text, options_.width, indent)) put(line, style);
  }
  /// Prose is wrapped even where lines may have any length.
  void put_hint(std::string_view text, std::size_t indent) {
    const std::size_t columns = options_.width == 0 ? kProseColumns : std::min(options_.width, kProseColumns);
    for (const std::string& line : wrap_words(text, columns, indent)) put(line);
  }
  std::string bytes(std::uint64_t value) const { return format_bytes(value, style_); }
  std::string blocks(std::uint64_t value) const { return format_blocks(value, style_); }

  /// What shares of bytes are of.
  Quantity told_in_shares() const { return sorted_ == Quantity::kLive ? Quantity::kLive : Quantity::kAllocated; }
  std::vector<const StackRecord*> shown_stacks() const;
  void header();
  void trace_notes();
  void nothing_allocated();
  void totals();
  void stacks();
  void stack(std::size_t rank, const StackRecord& record);
  void stack_headline(std::size_t rank, const StackRecord& record);
  std::string frame_line(const ListedFrame& listed) const;
  const std::string& end_line(const StackRecord& record);
  void hidden_stacks();
  void incomplete_stacks();
  void symbol_gaps();
  void losses();

  const Snapshot& snapshot_;
  Symbolizer& symbolizer_;
  const TextOptions& options_;
  const TextSink& sink_;
  const NumberStyle style_;
  const Quantity sorted_;
  SymbolGaps gaps_;
  const UnwindText unwind_;
  const std::vector<const StackRecord*> shown_;
  const CallTable calls_;
  // Lines that recur in many stacks.
  std::vector<std::string> call_lines_;  ///< by the call's number; empty until the call is first shown
  std::map<std::pair<LeftOut, std::size_t>, std::string> left_out_lines_;
  std::map<std::tuple<bool, int, int>, std::optional<std::string>>
      end_lines_;  ///< by what UnwindText::end_mark looks at
  bool folded_any_ = false;
  bool wanted_ = true;  ///< somebody still reads
  std::string out_;
};

void TextReport::header() {
  const TargetInfo& target = snapshot_.target;
  StyledLine line;
  line.add(target.comm.empty() ? std::string_view("(unnamed)") : std::string_view(target.comm), Style::kStrong);
  line.add(fmt::format(" (pid {}), traced for {}: ", target.pid, format_duration(snapshot_.trace.duration_ns)));
  if (snapshot_.exact()) {
    line.add("exact", Style::kGood);
  } else {
    line.add(fmt::format("NOT exact, losses: {}", format_count(snapshot_.losses.total(), style_)), Style::kBad);
  }
  put(line);
  if (!target.exe.empty()) put(target.exe, Style::kDim);
  trace_notes();
  put("");
}

void TextReport::trace_notes() {
  const TraceInfo& trace = snapshot_.trace;
  if (trace.verified) {
    if (*trace.verified) {
      put_wrapped("verified against the live table: both agree on every stack", 2, Style::kGood);
    } else {
      put_wrapped("VERIFICATION FAILED: the live table disagrees with the counters of a stack", 2, Style::kBad);
    }
  }
  if (trace.min_block_bytes != 0) {
    put_wrapped(fmt::format("only blocks of {} or more were followed", bytes(trace.min_block_bytes)), 2);
  }
  if (trace.exec_count != 0) {
    put_wrapped(fmt::format("the target replaced its program {} (exec): the numbers are of the last one",
                            trace.exec_count == 1 ? "once" : format_count(trace.exec_count, style_) + " times"),
                2);
  }
  if (trace.target_exited) put_wrapped("the target ended during the trace: live is what it still held at its end", 2);
}

void TextReport::nothing_allocated() {
  put("no allocation was seen", Style::kStrong);
  if (snapshot_.frees_of_untraced != 0) {
    put(fmt::format("{} older than the trace were freed", blocks(snapshot_.frees_of_untraced)));
  }
  for (const Allocator& allocator : snapshot_.target.allocators) {
    std::string names;
    for (const ProbedFunction& function : allocator.functions) names += (names.empty() ? "" : ", ") + function.name;
    put_wrapped(fmt::format("probed in {}: {}", allocator.path, names.empty() ? "nothing" : names), 2);
  }
  put_hint(
      "hint: the process may have been idle, so trace for longer or while it has work; memory that it takes from mmap, "
      "or from an allocator of its own, does not pass through the functions probed",
      6);
  put("");
}

void TextReport::totals() {
  const Counters& totals = snapshot_.totals;
  struct Row {
    std::string_view name;
    std::string bytes;
    std::string blocks;
    std::string_view note;
  };
  const std::string peak_note =
      fmt::format("highest value sampled (every {}), or more", format_duration(snapshot_.trace.interval_ns));
  const std::array<Row, 5> rows = {{
      {"live", bytes(totals.live_bytes()), format_count(totals.live_count(), style_),
       "allocated since the trace began, not freed"},
      {"peak live", bytes(snapshot_.peak_live_bytes), "", peak_note},
      {"allocated", bytes(totals.allocated_bytes), format_count(totals.allocated_count, style_), ""},
      {"freed", bytes(totals.freed_bytes), format_count(totals.freed_count, style_), ""},
      {snapshot_.trace.min_block_bytes == 0 ? "freed, older" : "freed, other", "",
       format_count(snapshot_.frees_of_untraced, style_),
       snapshot_.trace.min_block_bytes == 0 ? "frees of blocks from before the trace"
                                            : "frees of blocks from before the trace, and of smaller ones"},
  }};
  std::size_t bytes_columns = 5;
  std::size_t blocks_columns = 6;
  for (const Row& row : rows) {
    bytes_columns = std::max(bytes_columns, row.bytes.size());
    blocks_columns = std::max(blocks_columns, row.blocks.size());
  }
  const auto line = [&](const Row& row, Style style) {
    StyledLine styled;
    styled.add(align_left(row.name, 12), style).add("  ").add(align_right(row.bytes, bytes_columns), style).add("  ");
    styled.add(align_right(row.blocks, blocks_columns), style);
    if (!row.note.empty()) styled.add("  ").add(row.note, Style::kDim);
    put(styled);
  };
  line({"", "bytes", "blocks", ""}, Style::kDim);
  for (const Row& row : rows) line(row, row.name == "live" ? Style::kStrong : Style::kPlain);
  const std::string costs = trap_costs_text(snapshot_);
  if (!costs.empty()) put_wrapped(costs, 2, Style::kDim);
  put_wrapped(unwind_.summary(), 2, unwind_.all_complete() ? Style::kDim : Style::kPlain);
  put("");
}

std::vector<const StackRecord*> TextReport::shown_stacks() const {
  std::vector<const StackRecord*> shown = select_stacks(snapshot_, options_.selection);
  std::erase_if(shown, [&](const StackRecord* record) { return !has_any(*record, sorted_); });
  return shown;
}

void TextReport::stacks() {
  const std::uint64_t min_size = options_.selection.min_size_bytes;
  const std::string floor = min_size == 0 ? "" : fmt::format(", of {} or more", bytes(min_size));
  put_wrapped(fmt::format("top {} of {} stacks by {}{}", shown_.size(), format_count(snapshot_.stacks.size(), style_),
                          sort_key_words(options_.selection.sort), floor),
              2, Style::kStrong);
  put("");
  for (std::size_t index = 0; index < shown_.size(); ++index) {
    if (out_.size() >= kPieceBytes) flush();
    if (!wanted_) return;
    stack(index + 1, *shown_[index]);
  }
  hidden_stacks();
  if (folded_any_)
    put_wrapped("… folded: allocator and standard library frames; --full-stacks shows all", 2, Style::kDim);
  if (!out_.ends_with("\n\n")) put("");
}

void TextReport::stack_headline(std::size_t rank, const StackRecord& record) {
  const Counters& counters = record.counters;
  const std::uint64_t part = sort_value(counters, options_.selection.sort);
  const std::uint64_t whole = sort_value(snapshot_.totals, options_.selection.sort);
  const std::uint64_t sorted_bytes = bytes_of(counters, sorted_);
  const std::uint64_t sorted_blocks = blocks_of(counters, sorted_);
  StyledLine line;
  line.add(align_left(fmt::format("#{}", rank), 4), Style::kStrong).add(align_right(format_share(part, whole), 8));
  line.add(fmt::format("  {} {} in {}", quantity_name(sorted_), bytes(sorted_bytes), blocks(sorted_blocks)),
           Style::kStrong);
  std::vector<std::string> pieces = {fmt::format(", average {}", bytes(average_bytes(sorted_bytes, sorted_blocks)))};
  for (const Quantity other : {Quantity::kLive, Quantity::kAllocated}) {
    if (other == sorted_) continue;
    pieces.back() += ";";
    pieces.push_back(fmt::format(" {} {} in {}", quantity_name(other), bytes(bytes_of(counters, other)),
                                 blocks(blocks_of(counters, other))));
  }
  for (const std::string& piece : pieces) {
    if (options_.width != 0 && line.width() + piece.size() > options_.width) {
      put(line);
      line = StyledLine{}.add(std::string(kHeadlineIndent, ' '));
    }
    line.add(piece);
  }
  put(line);
}

void TextReport::stack(std::size_t rank, const StackRecord& record) {
  stack_headline(rank, record);
  const std::string indent(kFrameIndent, ' ');
  const FrameList listed = calls_.list(record);
  gaps_.add(record, listed);
  if (listed.empty()) put(indent + no_frames_text(record.id));
  const std::vector<ShownFrame> shown =
      options_.full_stacks ? unfolded_frames(listed) : fold_frames(listed, options_.max_frames);
  for (const ShownFrame& line : shown) {
    if (line.frame != nullptr) {
      std::string& text = call_lines_[calls_.number_of(*line.frame)];
      if (text.empty()) text = frame_line(*line.frame);
      out_ += text;
      continue;
    }
    folded_any_ = folded_any_ || line.why == LeftOut::kPlumbing;
    std::string& text = left_out_lines_[{line.why, line.left_out_count}];
    if (text.empty()) text = rendered(StyledLine{}.add(indent + left_out_text(line), Style::kDim));
    out_ += text;
  }
  out_ += end_line(record);
  put("");
}

const std::string& TextReport::end_line(const StackRecord& record) {
  std::optional<std::string>& text = end_lines_[{record.id == kNoStack, record.quality(), record.end}];
  if (text) return *text;
  text.emplace();
  const std::string mark = unwind_.end_mark(record);
  if (mark.empty()) return *text;
  for (const std::string& line : wrap_words(std::string(kFrameIndent, ' ') + mark, options_.width, kFrameIndent + 2)) {
    *text += rendered(StyledLine{}.add(line, Style::kDim));
  }
  return *text;
}

std::string TextReport::frame_line(const ListedFrame& listed) const {
  StyledLine line;
  line.add(std::string(kFrameIndent, ' '));
  if (options_.full_stacks) line.add(fmt::format("{:#018x}  ", listed.place.address), Style::kDim);
  std::string place = source_place(listed.source, options_.full_stacks ? 0 : 2);
  if (options_.full_stacks && !listed.source.function.empty()) {
    const std::string module = module_place(listed.place, snapshot_, true);
    if (!module.empty()) place += fmt::format("{}({})", place.empty() ? "" : "  ", module);
  }
  const bool interrupted = listed.place.interrupted && !listed.source.inlined;
  const std::string_view mark = listed.source.inlined ? " (inlined)" : interrupted ? " (interrupted by a signal)" : "";
  const std::string name = frame_name(listed, snapshot_);
  const std::size_t beside = line.width() + mark.size() + (place.empty() ? 0 : 2 + display_width(place));
  const std::size_t room = options_.width > beside ? options_.width - beside : 0;
  line.add(options_.width == 0 ? name : shorten_middle(name, std::max(room, kMinNameColumns))).add(mark);
  if (!place.empty()) line.add("  ").add(place, Style::kDim);
  return rendered(line);
}

void TextReport::hidden_stacks() {
  std::size_t hidden = 0;
  std::size_t without = 0;
  Counters rest;
  for (const StackRecord& record : snapshot_.stacks) {
    (has_any(record, sorted_) ? hidden : without) += 1;
    rest += record.counters;
  }
  hidden -= shown_.size();
  for (const StackRecord* record : shown_) {
    rest.allocated_bytes -= record->counters.allocated_bytes;
    rest.allocated_count -= record->counters.allocated_count;
    rest.freed_bytes -= record->counters.freed_bytes;
    rest.freed_count -= record->counters.freed_count;
  }
  const std::string_view word = quantity_name(sorted_);
  if (hidden != 0) {
    put_wrapped(fmt::format("… {} more {}, {} {} in {} ({}); --top 0 shows all", format_count(hidden, style_),
                            hidden == 1 ? "stack" : "stacks", word, bytes(bytes_of(rest, sorted_)),
                            blocks(blocks_of(rest, sorted_)),
                            format_share(sort_value(rest, options_.selection.sort),
                                         sort_value(snapshot_.totals, options_.selection.sort))),
                2);
  }
  if (without != 0) {
    put(fmt::format("… {} {} with nothing {}", format_count(without, style_), without == 1 ? "stack" : "stacks", word),
        Style::kDim);
  }
}

void TextReport::incomplete_stacks() {
  const UnwindText::Causes causes = unwind_.causes();
  if (causes.lines.empty()) return;
  put("stacks that are not complete", Style::kStrong);
  for (const std::string& line : causes.lines) put_wrapped(line, 12);
  for (const std::string& hint : causes.hints) put_hint("  " + hint, 8);
  put("");
}

void TextReport::symbol_gaps() {
  const std::vector<SymbolGap> gaps = gaps_.gaps(snapshot_, symbolizer_);
  if (gaps.empty()) return;
  const Quantity quantity = told_in_shares();
  const std::uint64_t whole = bytes_of(snapshot_.totals, quantity);
  put("missing symbols", Style::kStrong);
  for (const SymbolGap& gap : gaps) {
    const Module* module = find_module(snapshot_, gap.module);
    if (module == nullptr) continue;
    const std::string share =
        fmt::format("{} of {} bytes", format_share(gap.affected_bytes, whole), quantity_name(quantity));
    put_wrapped(gap_text(gap, *module, share), 4);
  }
  put_hint(
      "  hint: install the debug symbols of these files (packages named -dbgsym or -debuginfo), or build them "
      "unstripped with -g; a debug file is also found by build id, as /usr/lib/debug/.build-id/XX/REST.debug",
      8);
  put("");
}

void TextReport::losses() {
  for (const StyledLine& line : render_losses(snapshot_.losses, style_, options_.width)) put(line);
}

}  // namespace

void write_text(const Snapshot& snapshot, Symbolizer& symbolizer, const TextOptions& options, const TextSink& sink) {
  TextReport(snapshot, symbolizer, options, sink).write();
}

std::string render_text(const Snapshot& snapshot, Symbolizer& symbolizer, const TextOptions& options) {
  std::string report;
  write_text(snapshot, symbolizer, options, [&](std::string_view piece) {
    report += piece;
    return true;
  });
  return report;
}

}  // namespace hawk
