#include "symbolizer/perf_map.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace hawk {
namespace {

constexpr std::size_t kMaxEntries = 1'000'000;
constexpr std::size_t kLongestName = 4096;

/// Takes a hexadecimal number and a space off the front of `line`.
std::optional<std::uint64_t> take_number(std::string_view& line) {
  if (line.starts_with("0x")) line.remove_prefix(2);
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number, 16);
  if (error != std::errc() || end == line.data() + line.size() || *end != ' ') return std::nullopt;
  line.remove_prefix(static_cast<std::size_t>(end - line.data()) + 1);
  return number;
}

/// Takes ":NUMBER" off the end of `text`; 0: there is none.
std::uint32_t take_line_number(std::string_view& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return 0;
  std::uint32_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [parsed, error] = std::from_chars(text.data() + colon + 1, end, number);
  if (error != std::errc() || parsed != end) return 0;
  text = text.substr(0, colon);
  return number;
}

SourceFrame named(std::string_view function) {
  SourceFrame frame;
  frame.function = std::string(function);
  return frame;
}

SourceFrame python_frame(std::string_view name) {
  const std::size_t colon = name.find(':', 4);  // behind "py::"
  if (colon == std::string_view::npos) return named(name);
  SourceFrame frame = named(name.substr(0, colon));
  frame.file = std::string(name.substr(colon + 1));
  return frame;
}

/// `prefix` and its colon are off; what follows may begin with a mark of the compiler that made the code.
SourceFrame javascript_frame(std::string_view name) {
  name.remove_prefix(std::min(name.find_first_not_of("*~^+"), name.size()));
  const std::size_t space = name.rfind(' ');
  std::string_view file = space == std::string_view::npos ? std::string_view() : name.substr(space + 1);
  const std::string_view function = name.substr(0, space);
  SourceFrame frame;
  frame.function = "js::" + std::string(function.empty() ? "<anonymous>" : function);
  const std::uint32_t last = take_line_number(file);
  const std::uint32_t line = take_line_number(file);
  frame.line = line != 0 ? line : last;
  if (file.starts_with("file://")) file.remove_prefix(7);
  frame.file = std::string(file);
  return frame;
}

}  // namespace

SourceFrame frame_of_perf_map_name(std::string_view name) {
  if (name.starts_with("py::")) return python_frame(name);
  for (const std::string_view prefix : {"JS:", "LazyCompile:", "Function:", "Script:", "Eval:"}) {
    if (name.starts_with(prefix)) return javascript_frame(name.substr(prefix.size()));
  }
  return named(name);
}

void PerfMap::add(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view part = text.substr(0, end);
    // Of a line without end only the beginning is kept: the rest of it would be a name.
    if (cut_line_.size() < 2 * kLongestName) cut_line_ += part.substr(0, 2 * kLongestName);
    if (end == std::string_view::npos) return;
    add_line(cut_line_);
    cut_line_.clear();
    text.remove_prefix(end + 1);
  }
}

void PerfMap::clear() {
  code_.clear();
  cut_line_.clear();
}

void PerfMap::add_line(std::string_view line) {
  const std::optional<std::uint64_t> start = take_number(line);
  const std::optional<std::uint64_t> size = start ? take_number(line) : std::nullopt;
  if (!size || *size == 0 || *start + *size < *start || line.empty()) return;
  const std::uint64_t end = *start + *size;
  auto next = code_.lower_bound(*start);
  if (next != code_.begin() && std::prev(next)->second.end > *start) --next;
  while (next != code_.end() && next->first < end) next = code_.erase(next);
  if (code_.size() < kMaxEntries) code_.emplace(*start, Code{end, std::string(line.substr(0, kLongestName))});
}

std::optional<SourceFrame> PerfMap::find(std::uint64_t address) const {
  const auto after = code_.lower_bound(address);  // the call ends where it returns to
  if (after == code_.begin()) return std::nullopt;
  const Code& code = std::prev(after)->second;
  if (address > code.end) return std::nullopt;
  return frame_of_perf_map_name(code.name);
}

}  // namespace hawk
