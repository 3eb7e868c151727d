#include "userspace/study/file_checks.h"

#include <gtest/gtest.h>

#include <functional>
#include <tuple>

#include "tests/support/small_elf.h"

namespace hawk {
namespace {

constexpr std::uint64_t kOffset = 0x2000, kVaddr = 0x402000, kBytes = 0x100;

/// A file with code at kOffset alone, and data before it.
ElfLayout file(std::uint64_t code_bytes = kBytes) {
  Elf64_Phdr data = testing::code_segment(0, 0x400000, kOffset);
  data.p_flags = PF_R;
  Result<ElfLayout> layout =
      ElfLayout::make(testing::small_elf({data, testing::code_segment(kOffset, kVaddr, code_bytes)}), "a test's file");
  HAWK_CHECK(layout.has_value(), "a test's file");
  return std::move(*layout);
}

FileCode good_code() {
  FileCode code;
  AllocatorFunction function;
  function.names = {"operator new"};
  function.entry_offset = kOffset;
  function.probe_offset = kOffset + 4;
  function.return_offsets = {kOffset + kBytes - 1};
  function.return_points = {{kOffset + 8, {}}};
  function.yields.points.emplace_back().file_offset = kOffset + 9;
  function.yields.code = {{.file_offset = kOffset, .bytes = 9}};
  code.allocator.functions = code.allocator.unfollowed = {function};
  code.operator_frames = OperatorFrames{
      .call_sites = {{kVaddr + 5, 16, {}}, {kVaddr + kBytes, 16, {}}}, .init_vaddr = kVaddr, .init_offset = kOffset};
  return code;
}

TEST(FileChecks, BelieveWhatIsInTheCode) { EXPECT_TRUE(is_about(good_code(), file()) && is_about({}, file())); }

TEST(FileChecks, BelieveNothingElsewhere) {
  const std::function<std::uint64_t&(FileCode&)> offsets[] = {
      [](FileCode& code) -> std::uint64_t& { return code.allocator.functions[0].entry_offset; },
      [](FileCode& code) -> std::uint64_t& { return code.allocator.functions[0].probe_offset; },
      [](FileCode& code) -> std::uint64_t& { return code.allocator.functions[0].return_offsets[0]; },
      [](FileCode& code) -> std::uint64_t& { return code.allocator.functions[0].return_points[0].file_offset; },
      [](FileCode& code) -> std::uint64_t& { return code.allocator.functions[0].yields.points[0].file_offset; },
      [](FileCode& code) -> std::uint64_t& { return code.allocator.functions[0].yields.code[0].file_offset; },
      [](FileCode& code) -> std::uint64_t& { return code.allocator.unfollowed[0].probe_offset; },
      [](FileCode& code) -> std::uint64_t& { return *code.operator_frames->init_offset; }};
  for (const auto& offset : offsets) {
    for (const std::uint64_t wrong : {std::uint64_t{0}, kOffset - 1, kOffset + kBytes, ~std::uint64_t{0}}) {
      FileCode code = good_code();
      offset(code) = wrong;
      EXPECT_FALSE(is_about(code, file())) << wrong;
    }
  }
}

TEST(FileChecks, AProbeLiesBehindItsFunctionsFirstInstructionAndNotFar) {
  constexpr std::uint64_t kFurthest = kOffset + kMaxProbeDistance;
  const ElfLayout large = file(kMaxProbeDistance + 2);
  FileCode code = good_code();
  AllocatorFunction& function = code.allocator.functions[0];
  for (const auto& [entry, probe, is_right] : {std::tuple{kOffset, kFurthest, true},
                                               {kOffset, kFurthest + 1, false},
                                               {kOffset + 1, kFurthest + 1, true},
                                               {kOffset + 1, kOffset, false}}) {
    function.entry_offset = entry;
    function.probe_offset = probe;
    EXPECT_EQ(is_about(code, large), is_right) << entry << " " << probe;
  }
}

TEST(FileChecks, CallSitesAreSortedAndInTheCode) {
  FileCode code = good_code();
  std::swap(code.operator_frames->call_sites[0], code.operator_frames->call_sites[1]);
  EXPECT_FALSE(is_about(code, file()));
  code = good_code();
  code.operator_frames->call_sites.clear();
  EXPECT_FALSE(is_about(code, file()));
  for (const std::uint64_t wrong : {kVaddr, kVaddr + kBytes + 1}) {
    code = good_code();
    code.operator_frames->call_sites = {{wrong, 16, {}}};
    EXPECT_FALSE(is_about(code, file())) << wrong;
  }
}

}  // namespace
}  // namespace hawk
