#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "tests/unit/export/export_sample.h"
#include "tests/unit/report/golden_file.h"
#include "userspace/export/format.h"

// Whole files for other tools, compared byte for byte with tests/golden.
namespace hawk {
namespace {

class GoldenExchange : public testing::TestWithParam<const Format*> {};

TEST_P(GoldenExchange, OfABitOfEverything) {
  Sample sample = export_sample();
  const ReportRequest request = {.snapshot = sample.snapshot,
                                 .symbolizer = sample.symbolizer,
                                 .selection = {.top = 0},
                                 .role_of = sample_role_of,
                                 .hawktrace_version = "0.0.0"};
  std::string text = text_of_document([&](const TextSink& sink) { GetParam()->write(request, sink); });
  std::string extension = GetParam()->extension;
  if (extension == "html") {
    // The page is userspace/export/flame_graph.html; of interest is what is in it.
    text.erase(0, text.find("{\"title\""));
    text.erase(text.find("</script>"));
    extension = "flamegraph.json";
  }
  expect_golden("export." + extension, text);
}

/// The others are read by tests/unit/export/readers_test.py.
std::vector<const Format*> text_formats() {
  std::vector<const Format*> found;
  for (const Format& format : formats()) {
    const std::string_view name = format.name;
    if (name != "text" && name != "json" && format.is_text) found.push_back(&format);
  }
  return found;
}

INSTANTIATE_TEST_SUITE_P(Formats, GoldenExchange, testing::ValuesIn(text_formats()),
                         [](const testing::TestParamInfo<const Format*>& format) {
                           std::string name = format.param->name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace hawk
