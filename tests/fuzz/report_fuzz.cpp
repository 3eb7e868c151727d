// Names that the target, its files and its symbols choose, all the way through demangling and folding into every
// report. The input: kHeaderBytes that choose options and counters, then names separated by NUL bytes.
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "symbolizer/demangle.h"
#include "symbolizer/frame_role.h"
#include "tests/fuzz/fuzz_input.h"
#include "userspace/export/json_report.h"
#include "userspace/export/text_report.h"
#include "userspace/report/display_text.h"
#include "userspace/screen/view.h"
#include "userspace/tables/location_table.h"

namespace {

constexpr std::size_t kHeaderBytes = 16;
constexpr std::size_t kMaxFrames = 40;  // more only cost time

/// Returns the input's names one after the other, repeatedly.
class Names {
 public:
  explicit Names(std::string_view text) : names_(hawk::fuzz::split_at_nul(text)) {}

  std::size_t count() const { return names_.size(); }
  std::string at(std::size_t index) const { return std::string(names_[index % names_.size()]); }
  std::string next() { return at(next_++); }

 private:
  std::vector<std::string_view> names_;
  std::size_t next_ = 0;
};

/// Knows two calls at every address, one inlined into the other.
class NamedFrames : public hawk::Symbolizer {
 public:
  explicit NamedFrames(const Names& names) : names_(names) {}

  std::vector<hawk::SourceFrame> frames(hawk::ModuleId, std::uint64_t offset) override {
    const std::string inner = hawk::demangle(names_.at(offset));
    const std::string outer = hawk::demangle(names_.at(offset + 1));
    return {{.function = inner, .file = names_.at(offset + 2), .line = 7, .inlined = true},
            {.function = outer, .file = names_.at(offset + 3), .line = 0, .inlined = false}};
  }
  hawk::SymbolSource source(hawk::ModuleId module) override {
    return module == hawk::ModuleId{0} ? hawk::SymbolSource::kDebugInfo : hawk::SymbolSource::kNone;
  }

 private:
  const Names& names_;
};

hawk::Snapshot snapshot_of(const std::uint8_t* header, Names& names) {
  hawk::Snapshot snapshot;
  snapshot.target() = {.pid = 42, .comm = names.next(), .exe = names.next(), .allocators = {}};
  snapshot.target().allocators.push_back(
      {names.next(), names.next(), {{names.next(), {names.next()}, 1, 2, names.next(), true}}});
  snapshot.trace.attach_via = names.next();
  snapshot.trace.kernel = names.next();
  snapshot.modules = {{names.next(), names.next()}, {names.next(), names.next()}};
  std::memcpy(&snapshot.trace.duration_ns, header + 8, sizeof snapshot.trace.duration_ns);
  hawk::LocationTable locations;
  for (std::uint32_t i = 0; i < 3; ++i) {
    hawk::StackRecord stack{.id = hawk::StackId{i}, .counters = {}, .frames = {}};
    stack.end = static_cast<hawk_end>(header[i] % HAWK_END_COUNT);
    stack.guessed = (header[i] & 0x80) != 0;
    const std::uint64_t allocated_bytes = snapshot.trace.duration_ns >> (2 + 16 * i);
    stack.counters = {allocated_bytes, header[i] + 1u, allocated_bytes / 3, header[i] / 2u};
    // Module 2 does not exist, as in a damaged recording.
    std::vector<hawk::LocationId> frames;
    const std::size_t frame_count = std::min(names.count(), kMaxFrames) + i;
    for (std::uint64_t f = 0; f < frame_count; ++f) {
      const bool interrupted = ((header[i] >> 4 & 7) == f % 8);
      frames.push_back(
          locations.number_of({0x1000 + f, hawk::ModuleId{static_cast<std::uint32_t>(f % 3)}, f, interrupted}));
    }
    stack.frames = hawk::StackFrames(std::move(frames));
    snapshot.totals += stack.counters;
    snapshot.stacks.push_back(std::move(stack));
  }
  snapshot.locations = locations.locations();
  for (std::uint32_t module = 0; module < 3; ++module) {
    if ((header[3] >> module & 1) != 0) snapshot.unwind.modules_without_table.push_back(hawk::ModuleId{module});
    snapshot.unwind.unsupported_rules.push_back({hawk::ModuleId{module}, names.next(), header[4]});
  }
  snapshot.trace.unwind = (header[3] & 0x80) != 0 ? "fp" : "auto";
  snapshot.losses.counts[header[3] % snapshot.losses.counts.size()] = header[4];
  snapshot.peak_live_bytes = snapshot.totals.allocated_bytes;
  return snapshot;
}

/// Calls `check` for each line, without its newline.
template <class Check>
std::size_t for_each_line(std::string_view text, const Check& check) {
  std::size_t count = 1;
  for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    check(text.substr(0, end));
    text.remove_prefix(end + 1);
    ++count;
  }
  check(text);
  return count;
}

void check_printable(std::string_view line) {
  HAWK_CHECK(hawk::printable(line) == line, "text that must not be sent to a terminal");
}

void check_text(const hawk::Snapshot& snapshot, hawk::Symbolizer& symbolizer, const std::uint8_t* header) {
  hawk::TextOptions options;
  options.role_of = hawk::frame_role;
  options.full_stacks = (header[5] & 1) != 0;
  options.raw_bytes = (header[5] & 2) != 0;
  options.color = (header[5] & 4) != 0;
  options.width = header[6];
  options.max_frames = header[5] >> 3;
  const std::string text = hawk::render_text(snapshot, symbolizer, options);
  HAWK_CHECK(text.ends_with('\n'), "the report ends with a newline");
  if (!options.color) for_each_line(text, check_printable);
}

void check_live(const hawk::Snapshot& snapshot, hawk::Symbolizer& symbolizer, const std::uint8_t* header) {
  hawk::ViewOptions options;
  const std::size_t rows = header[7] % 64;
  const std::size_t columns = header[6];
  options.role_of = hawk::frame_role;
  options.raw_bytes = (header[5] & 2) != 0;
  hawk::View view(options);
  view.update(snapshot);
  // What the user does comes from the input too.
  for (const unsigned key : {header[5] % 17u, header[6] % 17u, header[7] % 17u}) {
    const hawk::ScreenLines screen = view.render(rows, columns, symbolizer);
    HAWK_CHECK(screen.size() == (columns == 0 ? 0 : rows), "not as many lines as the terminal has");
    for (const hawk::ScreenLine& drawn : screen) {
      const std::string line = drawn.text.render(columns, false);
      check_printable(line);
      HAWK_CHECK(hawk::display_width(line) <= columns, "a line wider than the terminal");
    }
    view.take({.key = static_cast<hawk::Key>(key), .text = std::string(1, static_cast<char>(header[5] % 95 + 32))});
  }
}

void check_json(const hawk::Snapshot& snapshot, hawk::Symbolizer& symbolizer) {
  const nlohmann::json document =
      nlohmann::json::parse(hawk::render_json(snapshot, symbolizer, hawk::JsonOptions{}), nullptr, false);
  HAWK_CHECK(!document.is_discarded(), "not JSON");
  HAWK_CHECK(document.at("stacks").size() == snapshot.stacks.size(), "stacks are missing");
}

/// The formats of other tools: no name breaks a line, and none ends what it stands in.
void check_exports(const hawk::Snapshot& snapshot, hawk::Symbolizer& symbolizer) {
  for (const hawk::Format& format : hawk::formats()) {
    const hawk::ReportRequest request = {.snapshot = snapshot, .symbolizer = symbolizer, .selection = {.top = 0}};
    const std::string file = hawk::text_of_document([&](const hawk::TextSink& sink) { format.write(request, sink); });
    const std::string_view name = format.name;
    if (format.is_text) for_each_line(file, check_printable);
    if (std::string_view(format.extension).ends_with("json")) {
      HAWK_CHECK(!nlohmann::json::parse(file, nullptr, false).is_discarded(), format.name);
    }
    if (name != "flamegraph") continue;
    const std::size_t data = file.find("{\"title\"");
    const std::size_t end = file.find('<', data);
    HAWK_CHECK(file.compare(end, 9, "</script>") == 0, "a name looks like an element of the page");
    HAWK_CHECK(!nlohmann::json::parse(file.substr(data, end - data), nullptr, false).is_discarded(), "not JSON");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < kHeaderBytes) return 0;
  Names names(hawk::fuzz::as_text(data + kHeaderBytes, size - kHeaderBytes));
  for (std::size_t i = 0; i < names.count(); ++i) (void)hawk::frame_role(names.at(i));
  const hawk::Snapshot snapshot = snapshot_of(data, names);
  NamedFrames symbolizer(names);
  check_text(snapshot, symbolizer, data);
  check_live(snapshot, symbolizer, data);
  check_json(snapshot, symbolizer);
  check_exports(snapshot, symbolizer);
  return 0;
}
