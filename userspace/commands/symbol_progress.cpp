#include "userspace/commands/symbol_progress.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>

#include "userspace/report/units.h"

namespace hawk {
namespace {

constexpr std::chrono::milliseconds kFirst{1000};     // work that takes less needs no explanation
constexpr std::chrono::milliseconds kRedraw{100};     // of a line on a terminal
constexpr std::chrono::milliseconds kNextLine{5000};  // in a log each line stays for ever

std::string progress_text(std::size_t done, std::size_t expected) {
  return fmt::format("hawktrace: reading debug information, {} of {} addresses",
                     format_count(done, NumberStyle::kReadable), format_count(expected, NumberStyle::kReadable));
}

}  // namespace

void ProgressSymbolizer::expect(std::size_t addresses) {
  if (!outlet_.put) return;
  erase();
  expected_ = addresses;
  done_ = 0;
  next_ = outlet_.now() + kFirst;
}

std::vector<SourceFrame> ProgressSymbolizer::frames(ModuleId module, std::uint64_t module_offset) {
  std::vector<SourceFrame> answer = symbolizer_.frames(module, module_offset);
  if (!outlet_.put || done_ >= expected_) return answer;
  ++done_;
  if (done_ == expected_) {
    erase();
  } else if (outlet_.now() >= next_) {
    tell();
  }
  return answer;
}

void ProgressSymbolizer::prepare(ModuleId module, std::span<const std::uint64_t> module_offsets) {
  symbolizer_.prepare(module, module_offsets);
  if (outlet_.put && done_ < expected_ && outlet_.now() >= next_) tell();
}

void ProgressSymbolizer::tell() {
  std::string text = progress_text(done_, expected_);
  if (!outlet_.is_terminal) {
    outlet_.put(text + "\n");
    next_ = outlet_.now() + kNextLine;
    return;
  }
  // A line that fills the last column makes some terminals wrap, and a wrapped line cannot be rewritten.
  if (outlet_.columns > 0 && text.size() >= outlet_.columns) text.resize(outlet_.columns - 1);
  shown_columns_ = std::max(shown_columns_, text.size());
  outlet_.put("\r" + text);
  next_ = outlet_.now() + kRedraw;
}

void ProgressSymbolizer::erase() {
  if (shown_columns_ == 0) return;
  // Spaces, because a terminal may know no escape sequences.
  outlet_.put("\r" + std::string(shown_columns_, ' ') + "\r");
  shown_columns_ = 0;
}

}  // namespace hawk
