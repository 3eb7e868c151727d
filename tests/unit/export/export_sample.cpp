#include "tests/unit/export/export_sample.h"

#include <fmt/core.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

namespace hawk {
namespace {

/// Names in which some format would see more than a name.
const std::vector<std::string>& hostile_names() {
  static const std::vector<std::string> names = {
      "</script><script>document.title='owned'</script><!--",
      "a;b;c 12",
      "line\nbreak\r\ttab",
      "\x1b[31mred\x1b[0m \u202Egpj.c \302\2332J",
      "not \xff\xfe UTF-8 \xe6\x97",
      "back\\slash \"quote\" 'tick' `$(true)`",
      "fn=(1) calls=2 + 3",
      "0x12 (in /fake:9)",
      "n2: 7 0x1: massif",
      "walk::{lambda(int)#1}::operator()(int) const",
      "%s%n -- <b>&amp;</b> '; DROP TABLE stacks; --",
  };
  return names;
}

void add_names(Sample& made, ModuleId exe, const Location& main) {
  std::vector<Location> frames;
  std::uint32_t line = 100;
  for (const std::string& name : hostile_names())
    frames.push_back(made.call(exe, {function(name, "/src/" + name, ++line)}));
  frames.push_back(main);
  made.add_stack(4, {4000, 4, 1000, 1}, frames);
}

}  // namespace

Sample export_sample() {
  Sample made = service_sample();
  Snapshot& snapshot = made.snapshot;
  snapshot.target().comm = "shop\n</script>\x1b[2J";
  const ModuleId exe{0};
  const ModuleId codec = made.add_module("/opt/my lib/libcodec;#1.so", "c0dec0de");
  const Location main = made.call(exe, {function("main", "/build/shop/src/main.cpp", 31)});
  add_names(made, exe, main);
  const Location walk = made.call(exe, {function("walk(Node*)", "/build/shop/src/tree.cpp", 10)});
  made.add_stack(5, {6000, 3, 0, 0}, {walk, walk, walk, main});
  made.add_stack(6, {5000, 5, 0, 0},
                 {made.call(codec, {}), made.call(codec, {}), {0x7fffdeadbeef, std::nullopt, 0}, main});
  made.add_stack(0, {5000, 50, 1000, 10}, {});
  made.add_stack(8, {9000, 3, 0, 0}, {made.call(exe, {function("leaf(Node*)", "tree.cpp", 3)}), walk}).end =
      HAWK_END_DEPTH;
  // The same names at other addresses.
  const auto twin = [&] { return made.call(exe, {function("twin()", "/build/shop/src/twin.cpp", 2)}); };
  made.add_stack(9, {32, 2, 0, 0}, {twin(), main});
  made.add_stack(10, {64, 1, 0, 0}, {twin(), main});
  made.add_stack(11, {0, 7, 0, 0}, {made.call(exe, {function("nothing()")}), main});  // blocks of no bytes
  made.add_stack(13, {777, 3, 777, 3}, {made.call(exe, {function("churn()")}), main});
  snapshot.losses[HAWK_LOSS_STACK_TABLE_FULL] = 50;
  snapshot.losses[HAWK_LOSS_TRUNCATED_STACK] = 3;
  return made;
}

Sample large_sample(std::uint32_t stacks) {
  Sample made = service_sample();
  constexpr std::size_t kLevels = 60;
  constexpr std::size_t kCallsPerLevel = 150;
  std::mt19937_64 random(42);
  std::vector<std::vector<Location>> levels;
  for (std::size_t level = 0; level < kLevels; ++level) {
    std::vector<Location>& calls = levels.emplace_back();
    for (std::size_t i = 0; i < kCallsPerLevel; ++i) {
      const std::string file = fmt::format("/build/shop/src/module{}/source{}.cpp", level, i % 9);
      const auto name = [&](const char* what) {
        return fmt::format("shop::module{}::{}{}(int, char const*)", level, what, i);
      };
      std::vector<SourceFrame> sources;
      if (i % 3 == 0) sources.push_back(inlined(name("inner"), file, 7));
      sources.push_back(function(name("outer"), file, 70));
      calls.push_back(made.call(ModuleId{0}, std::move(sources)));
    }
  }
  LocationTable table;
  std::vector<std::size_t> choice(kLevels);
  made.snapshot.stacks.clear();
  made.snapshot.totals = {};
  for (std::uint32_t id = 1; id <= stacks; ++id) {
    const std::size_t depth = 20 + random() % 41;
    // Each stack leaves the one before somewhere, mostly far inside.
    for (std::size_t level = depth - 1 - random() % 12; level < kLevels; ++level)
      choice[level] = random() % kCallsPerLevel;
    std::vector<LocationId> frames;
    for (std::size_t level = depth; level-- > 0;) frames.push_back(table.number_of(levels[level][choice[level]]));
    const std::uint64_t blocks = 1 + random() % 20;
    const std::uint64_t freed = random() % (blocks + 1);
    const std::uint64_t size = 16 + random() % 4096;
    StackRecord record;
    record.id = StackId{id};
    record.counters = {blocks * size, blocks, freed * size, freed};
    record.frames = StackFrames(std::move(frames));
    made.snapshot.totals += record.counters;
    made.snapshot.stacks.push_back(std::move(record));
  }
  made.snapshot.locations = table.locations();
  made.snapshot.peak_live_bytes = made.snapshot.totals.live_bytes();
  return made;
}

}  // namespace hawk
