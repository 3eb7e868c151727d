#include "userspace/report/symbolized_locations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "tests/unit/report/sample_snapshots.h"

namespace hawk {
namespace {

/// Notes what it is asked.
class NotingSymbolizer : public Symbolizer {
 public:
  std::vector<SourceFrame> frames(ModuleId module, std::uint64_t module_offset) override {
    EXPECT_NE(std::find(announced.begin(), announced.end(), Location{0, module, module_offset}), announced.end());
    asked.push_back({0, module, module_offset});
    return {};
  }
  void prepare(ModuleId module, std::span<const std::uint64_t> module_offsets) override {
    EXPECT_TRUE(std::is_sorted(module_offsets.begin(), module_offsets.end()));
    for (const std::uint64_t offset : module_offsets) announced.push_back({0, module, offset});
  }
  SymbolSource source(ModuleId) override { return SymbolSource::kNone; }

  std::vector<Location> asked;
  std::vector<Location> announced;  ///< by prepare
};

struct Outcome {
  std::vector<Location> asked;
  std::vector<Location> consumed;
  std::optional<std::size_t> announced;
};

Outcome symbolize(const Snapshot& snapshot, const std::vector<const StackRecord*>& stacks) {
  NotingSymbolizer symbolizer;
  Outcome outcome;
  symbolize_locations(
      snapshot, stacks, symbolizer,
      [&](std::size_t count) {
        EXPECT_TRUE(symbolizer.asked.empty()) << "the number comes first";
        outcome.announced = count;
      },
      [&](LocationId location, const std::vector<SourceFrame>& sources) {
        EXPECT_EQ(sources.size(), 1U) << "an unknown location has one nameless call";
        outcome.consumed.push_back(snapshot.location(location));
      });
  outcome.asked = symbolizer.asked;
  return outcome;
}

TEST(SymbolizedLocations, EachLocationOnceHoweverManyStacksPassIt) {
  Sample sample;
  const ModuleId exe = sample.add_module("/bin/exe", "");
  const ModuleId lib = sample.add_module("/lib/lib.so", "");
  const Location main{0x1100, exe, 0x100};
  const Location late{0x1900, exe, 0x900};
  const Location inner{0x9050, lib, 0x50};
  const Location jit{0xdead, std::nullopt, 0};
  sample.add_stack(1, {8, 1, 0, 0}, {inner, late, main});
  sample.add_stack(2, {8, 1, 0, 0}, {jit, late, late, main});
  const StackRecord& first = sample.snapshot.stacks[0];
  const StackRecord& second = sample.snapshot.stacks[1];

  const Outcome both = symbolize(sample.snapshot, {&first, &second});
  EXPECT_EQ(both.asked, (std::vector<Location>{{0, exe, 0x100}, {0, exe, 0x900}, {0, lib, 0x50}}))
      << "module by module, in the order of the file";
  EXPECT_EQ(both.announced, 3U) << "code in no module is nothing to ask for";
  EXPECT_EQ(both.consumed.size(), 4U);
  EXPECT_NE(std::find(both.consumed.begin(), both.consumed.end(), jit), both.consumed.end());

  const Outcome only_second = symbolize(sample.snapshot, {&second});
  EXPECT_EQ(only_second.asked, (std::vector<Location>{{0, exe, 0x100}, {0, exe, 0x900}}));
  EXPECT_EQ(symbolize(sample.snapshot, {}).announced, 0U);
}

// A symbolizer looks up the byte before a return address. The byte before an interrupted instruction may be of another
// function.
TEST(SymbolizedLocations, AnInterruptedInstructionIsAskedForItself) {
  Sample sample;
  const ModuleId exe = sample.add_module("/bin/exe", "");
  const Location interrupted{0x1100, exe, 0x100, true};
  const Location called{0x1100, exe, 0x100, false};
  const Location next{0x1101, exe, 0x101, false};
  sample.add_stack(1, {8, 1, 0, 0}, {called, next});
  sample.add_stack(2, {8, 1, 0, 0}, {{0x9050, std::nullopt, 0}, interrupted});
  const Outcome outcome = symbolize(sample.snapshot, {&sample.snapshot.stacks[0], &sample.snapshot.stacks[1]});
  EXPECT_EQ(outcome.asked, (std::vector<Location>{{0, exe, 0x100}, {0, exe, 0x101}, {0, exe, 0x101}}));
}

TEST(SymbolizedLocations, TheSignalTrampolineHasANameAndIsAskedForItself) {
  Sample sample;
  const ModuleId exe = sample.add_module("/bin/exe", "");
  const Location handler{0x1050, exe, 0x50};
  const Location trampoline{0x1200, exe, 0x200};
  const Location interrupted{0x1100, exe, 0x100, true};
  sample.add_stack(1, {8, 1, 0, 0}, {handler, trampoline, interrupted});
  const std::vector<const StackRecord*> stacks = {&sample.snapshot.stacks[0]};
  EXPECT_EQ(symbolize(sample.snapshot, stacks).asked,
            (std::vector<Location>{{0, exe, 0x50}, {0, exe, 0x101}, {0, exe, 0x201}}));
  std::vector<std::string> names;
  const auto note_names = [&](LocationId, const std::vector<SourceFrame>& sources) {
    for (const SourceFrame& source : sources) names.push_back(source.function);
  };
  symbolize_locations(sample.snapshot, stacks, sample.symbolizer, {}, note_names);
  EXPECT_EQ(names, (std::vector<std::string>{"", "", "<signal handler called>"}));
  sample.symbolizer.know(exe, 0x201, {function("__restore_rt")});
  names.clear();
  symbolize_locations(sample.snapshot, stacks, sample.symbolizer, {}, note_names);
  EXPECT_EQ(names, (std::vector<std::string>{"", "", "__restore_rt"}));
}

}  // namespace
}  // namespace hawk
