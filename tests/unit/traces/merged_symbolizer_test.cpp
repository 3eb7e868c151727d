#include "userspace/traces/merged_symbolizer.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "userspace/tables/merged_snapshot.h"

namespace hawk {
namespace {

/// Names everything after itself and what it was asked for.
class NamedPart : public Symbolizer {
 public:
  explicit NamedPart(std::string name) : name_(std::move(name)) {}

  std::vector<SourceFrame> frames(ModuleId module, std::uint64_t offset) override {
    return {{name_ + std::to_string(static_cast<std::uint32_t>(module)) + "+" + std::to_string(offset), "", 0, false}};
  }
  std::vector<SourceFrame> frames_in_no_file(std::uint64_t) override { return generated; }
  void prepare_in_no_file(std::span<const std::uint64_t> addresses) override {
    prepared.assign(addresses.begin(), addresses.end());
  }
  SymbolSource source(ModuleId) override { return SymbolSource::kDebugInfo; }
  std::string gap(ModuleId module) override { return name_ + std::to_string(static_cast<std::uint32_t>(module)); }

  std::vector<SourceFrame> generated;
  std::vector<std::uint64_t> prepared;

 private:
  std::string name_;
};

/// Two processes with a library, and code in no file; their programs differ.
class MergedSymbols : public ::testing::Test {
 protected:
  MergedSymbols() {
    for (Snapshot* process : {&first_, &second_}) {
      process->modules = {{"/lib/libc.so.6", "aa"}, {process == &first_ ? "/bin/a" : "/bin/b", ""}};
      process->locations = {{0x10, ModuleId{0}, 0x10}, {0x7000, std::nullopt, 0}};
    }
    second_.locations.push_back({0x8000, std::nullopt, 0, true});
    merger_.merge({&first_, &second_}, 0);
  }

  Snapshot first_, second_;
  SnapshotMerger merger_;
  NamedPart parts_[2] = {NamedPart("first"), NamedPart("second")};
  MergedSymbolizer symbolizer_{merger_.numbers(), [this](std::size_t part) -> Symbolizer& { return parts_[part]; }};
};

TEST_F(MergedSymbols, AModuleIsAskedOfAProcessThatHasIt) {
  EXPECT_EQ(symbolizer_.frames(ModuleId{0}, 16).front().function, "first0+16");
  EXPECT_EQ(symbolizer_.frames(ModuleId{1}, 1).front().function, "first1+1");
  EXPECT_EQ(symbolizer_.frames(ModuleId{2}, 2).front().function, "second1+2");
  EXPECT_EQ(symbolizer_.gap(ModuleId{2}), "second1");
  EXPECT_EQ(symbolizer_.source(ModuleId{2}), SymbolSource::kDebugInfo);
}

/// Two processes may have other code at one address.
TEST_F(MergedSymbols, CodeInNoFileHasANameOnlyIfAllThatHaveItAgree) {
  const std::vector<SourceFrame> function = {{"generated", "", 0, false}};
  parts_[0].generated = function;
  EXPECT_TRUE(symbolizer_.frames_in_no_file(0x7000).empty()) << "the second has no name for it";
  EXPECT_TRUE(symbolizer_.frames_in_no_file(0x8000).empty()) << "the first has no such location";
  parts_[1].generated = function;
  EXPECT_EQ(symbolizer_.frames_in_no_file(0x7000), function);
  EXPECT_EQ(symbolizer_.frames_in_no_file(0x8001), function) << "where a signal interrupted it";
  EXPECT_TRUE(symbolizer_.frames_in_no_file(0x9000).empty());
  symbolizer_.prepare_in_no_file(std::vector<std::uint64_t>{0x7000, 0x8000});
  EXPECT_EQ(parts_[0].prepared, (std::vector<std::uint64_t>{0x7000}));
  EXPECT_EQ(parts_[1].prepared, (std::vector<std::uint64_t>{0x7000, 0x8000}));
}

}  // namespace
}  // namespace hawk
