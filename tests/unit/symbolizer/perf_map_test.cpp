#include "symbolizer/perf_map.h"

#include <gtest/gtest.h>

#include <string>

namespace hawk {
namespace {

std::string name_at(const PerfMap& map, std::uint64_t address) {
  const std::optional<SourceFrame> frame = map.find(address);
  return frame ? frame->function : "?";
}

TEST(PerfMap, AReturnAddressBelongsToTheCallBeforeIt) {
  PerfMap map;
  map.add("7f00 10 first\n0x7f10 20 second\n");
  EXPECT_EQ(name_at(map, 0x7f00), "?");
  EXPECT_EQ(name_at(map, 0x7f01), "first");
  EXPECT_EQ(name_at(map, 0x7f10), "first") << "its last instruction was the call";
  EXPECT_EQ(name_at(map, 0x7f11), "second");
  EXPECT_EQ(name_at(map, 0x7f30), "second");
  EXPECT_EQ(name_at(map, 0x7f31), "?");
}

TEST(PerfMap, TheLastLineCounts) {
  PerfMap map;
  map.add("100 40 old\n200 40 other\n120 10 young\n1f0 20 wide\n");
  EXPECT_EQ(name_at(map, 0x101), "?") << "code that was partly overwritten is gone";
  EXPECT_EQ(name_at(map, 0x121), "young");
  EXPECT_EQ(name_at(map, 0x201), "wide");
  EXPECT_EQ(name_at(map, 0x221), "?");
}

TEST(PerfMap, PartsMayBeCutAnywhere) {
  const std::string text = "100 10 one\n200 10 two words\n";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    PerfMap map;
    map.add(std::string_view(text).substr(0, cut));
    map.add(std::string_view(text).substr(cut));
    EXPECT_EQ(name_at(map, 0x108), "one") << cut;
    EXPECT_EQ(name_at(map, 0x208), "two words") << cut;
  }
}

TEST(PerfMap, LinesWithoutSenseArePassedOver) {
  PerfMap map;
  map.add("\n \nx\n100\n100 \n100 10\n100 10 \nzz 10 a\n100 0 empty\nffffffffffffffff 10 wraps\n-1 10 negative\n");
  map.add(std::string(1 << 20, 'a') + "\n");
  EXPECT_TRUE(map.empty());
  map.add("100 10 " + std::string(1 << 20, 'n') + "\n");
  EXPECT_LE(name_at(map, 0x101).size(), 4096U);
  map.clear();
  EXPECT_TRUE(map.empty());
}

TEST(PerfMap, KnownWritersTellFileAndLine) {
  const auto expect = [](const char* name, const char* function, const char* file, std::uint32_t line) {
    const SourceFrame frame = frame_of_perf_map_name(name);
    EXPECT_EQ(frame.function, function);
    EXPECT_EQ(frame.file, file);
    EXPECT_EQ(frame.line, line);
  };
  expect("py::Cache.put:/srv/app/cache.py", "py::Cache.put", "/srv/app/cache.py", 0);
  expect("py::odd", "py::odd", "", 0);
  expect("JS:*handle /srv/app/server.js:12:7", "js::handle", "/srv/app/server.js", 12);
  expect("JS:~ file:///srv/app/server.mjs:3:1", "js::<anonymous>", "/srv/app/server.mjs", 3);
  expect("LazyCompile:~get values node:internal/x:4:5", "js::get values", "node:internal/x", 4);
  expect("Ljava/lang/String;::hashCode", "Ljava/lang/String;::hashCode", "", 0);
  expect("JS:", "js::<anonymous>", "", 0);
}

}  // namespace
}  // namespace hawk
