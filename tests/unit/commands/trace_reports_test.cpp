#include "userspace/commands/trace_reports.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "userspace/export/json_report.h"
#include "userspace/export/text_report.h"
#include "userspace/tables/location_table.h"

namespace hawk {
namespace {

/// Every function has its address for a name.
class NumberSymbolizer : public Symbolizer {
 public:
  std::vector<SourceFrame> frames(ModuleId, std::uint64_t module_offset) override {
    return {{.function = "f" + std::to_string(module_offset), .file = "f.c", .line = 1, .inlined = false}};
  }
  SymbolSource source(ModuleId) override { return SymbolSource::kDebugInfo; }
};

/// Large enough that the report comes in many pieces.
Snapshot large_snapshot() {
  Snapshot snapshot;
  snapshot.modules.push_back({"/bin/program", "aabb"});
  LocationTable locations;
  for (std::uint32_t id = 1; id <= 2000; ++id) {
    std::vector<LocationId> frames;
    for (std::uint64_t offset = id; offset < id + 5; ++offset)
      frames.push_back(locations.number_of({0x1000 + offset, ModuleId{0}, offset}));
    const Counters counters{id, 1, 0, 0};
    snapshot.stacks.push_back({.id = StackId{id}, .counters = counters, .frames = StackFrames(std::move(frames))});
    snapshot.totals += counters;
  }
  snapshot.locations = locations.locations();
  return snapshot;
}

std::string written(const Snapshot& snapshot, ReportOptions options) {
  std::string path = (std::filesystem::temp_directory_path() / "hawk_trace_reports.XXXXXX").string();
  const UniqueFd file(::mkstemp(path.data()));
  options.output_path = path;
  NumberSymbolizer symbolizer;
  Result<ReportOutput> output = ReportOutput::make(options.output_path);
  EXPECT_TRUE(output && write_report(snapshot, symbolizer, options, Verbosity::kNormal, *output));
  std::ostringstream content;
  content << std::ifstream(path).rdbuf();
  std::filesystem::remove(path);
  return content.str();
}

const Format* format_named(std::string_view name) {
  const auto found = std::find_if(formats().begin(), formats().end(), [&](const Format& f) { return f.name == name; });
  EXPECT_NE(found, formats().end()) << name;
  return &*found;
}

TEST(TraceReports, TheFileHoldsTheWholeReport) {
  const Snapshot snapshot = large_snapshot();
  NumberSymbolizer symbolizer;
  ReportOptions options;
  options.format = format_named("json");
  JsonOptions as_chosen;
  as_chosen.selection.top = 0;
  const std::string as_json = render_json(snapshot, symbolizer, as_chosen);
  EXPECT_GT(as_json.size(), 1'000'000U);
  EXPECT_TRUE(written(snapshot, options) == as_json);

  options.format = format_named("text");
  options.top = 0;
  TextOptions text;
  text.selection.top = 0;
  const std::string as_text = render_text(snapshot, symbolizer, text);
  EXPECT_GT(as_text.size(), 200'000U);
  EXPECT_TRUE(written(snapshot, options) == as_text);
}

}  // namespace
}  // namespace hawk
