/// Malicious sections. Time limits are generous: they only exclude minutes and gigabytes.
#include <gtest/gtest.h>
#include <time.h>

#include <chrono>
#include <random>

#include "tests/unit/unwinding/frame_bytes.h"

namespace hawk {
namespace {

using testing::append;
using testing::Bytes;
using testing::CommonBytes;
using testing::FrameBytes;
using testing::joined;
using testing::little_endian;
using testing::uleb;

constexpr std::chrono::seconds kLimit{20};

/// Of this thread, so that other work on the machine does not count.
std::chrono::nanoseconds cpu_time() {
  timespec now = {};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

/// What the header promises of every table.
void check_invariants(const UnwindTable& table, const RuleSet& rules) {
  if (table.rows.empty()) return;
  EXPECT_EQ(table.rows.front().offset, 0u);
  EXPECT_EQ(table.rows.back().rule, std::uint32_t{HAWK_RULE_GAP});
  for (std::size_t i = 1; i < table.rows.size(); ++i) {
    ASSERT_LT(table.rows[i - 1].offset, table.rows[i].offset);
    ASSERT_NE(table.rows[i - 1].rule, table.rows[i].rule);
    ASSERT_LT(table.rows[i].rule, rules.rules().size());
  }
}

UnwindTable read(const FrameBytes& bytes, std::size_t max_rows = kMaxUnwindRows) {
  RuleSet rules;
  const std::chrono::nanoseconds start = cpu_time();
  UnwindTable table = read_unwind_table(bytes.section(), rules, max_rows);
  EXPECT_LT(cpu_time() - start, kLimit);
  check_invariants(table, rules);
  return table;
}

/// Two rules by turns, a byte of code each.
Bytes restless(std::size_t rows) {
  Bytes instructions;
  for (std::size_t i = 0; i < rows; ++i) {
    append(instructions, {0x41, 0x0e, static_cast<std::uint8_t>(i % 2 == 0 ? 16 : 8)});
  }
  return instructions;
}

TEST(Hostile, EveryPrefixOfASectionIsRead) {
  FrameBytes bytes;
  const std::uint64_t common =
      bytes.add_common({.augmentation = "zPLR", .augmentation_data = {0x9b, 1, 2, 3, 4, 0x1b, 0x1b}});
  bytes.add_function(common, 0x1000, 0x40, restless(4));
  bytes.add_function(common, 0x1040, 0x40, joined({{0x0f, 3, 0x76, 0x78, 0x06}, restless(2)}));
  for (std::size_t size = 0; size <= bytes.bytes().size(); ++size) {
    // A copy of its own, so that the sanitizer sees a read beyond it.
    const Bytes prefix(bytes.bytes().begin(), bytes.bytes().begin() + static_cast<std::ptrdiff_t>(size));
    RuleSet rules;
    check_invariants(read_unwind_table({prefix, FrameBytes::kVaddr, false, false}, rules), rules);
  }
}

TEST(Hostile, FlippedBitsAndNoise) {
  FrameBytes bytes;
  const std::uint64_t common = bytes.add_common();
  for (std::uint64_t i = 0; i < 8; ++i) bytes.add_function(common, 0x1000 + i * 0x40, 0x40, restless(8));
  std::mt19937_64 random(20261121);
  RuleSet rules;
  for (int round = 0; round < 4000; ++round) {
    Bytes damaged = bytes.bytes();
    for (std::uint64_t flips = random() % 8 + 1; flips > 0; --flips) {
      damaged[random() % damaged.size()] = static_cast<std::uint8_t>(random());
    }
    check_invariants(read_unwind_table({damaged, FrameBytes::kVaddr, round % 2 == 0, round % 3 == 0}, rules), rules);
  }
}

TEST(Hostile, ManyFunctionsOfFourGigabytesEach) {
  FrameBytes bytes(true);
  const std::uint64_t common = bytes.add_common({.augmentation = "", .augmentation_data = {}});
  constexpr std::uint64_t kFunctions = 20000;
  for (std::uint64_t i = 0; i < kFunctions; ++i) bytes.add_function(common, 0x1000 + i, 0xf0000000, restless(10));
  EXPECT_LE(read(bytes).rows.size(), bytes.bytes().size());
}

TEST(Hostile, FunctionsInsideOneAnother) {
  FrameBytes bytes(true);
  const std::uint64_t common = bytes.add_common({.augmentation = "", .augmentation_data = {}});
  constexpr std::uint64_t kFunctions = 50000;
  for (std::uint64_t i = 0; i < kFunctions; ++i) {
    bytes.add_function(common, 0x1000 + 2 * i, 10 * kFunctions - 4 * i,
                       {0x0e, static_cast<std::uint8_t>(8 + i % 2 * 8)});
  }
  EXPECT_LE(read(bytes).rows.size(), 2 * kFunctions + 1);
}

TEST(Hostile, OneCommonRecordWithAHugeProgramForAll) {
  FrameBytes bytes;
  CommonBytes common;
  for (int i = 0; i < 1000000; ++i) common.instructions.push_back(0x0a + static_cast<std::uint8_t>(i % 2));
  const std::uint64_t at = bytes.add_common(common);
  for (std::uint64_t i = 0; i < 50000; ++i) bytes.add_function(at, 0x1000 + 16 * i, 16, {0x0e, 16});
  EXPECT_EQ(read(bytes).rows.size(), 2u);
}

TEST(Hostile, CommonRecordsInsideACommonRecord) {
  // Functions that refer into the middle of a record, each with a program to the end of it.
  FrameBytes bytes;
  CommonBytes common;
  common.instructions.resize(1000000);
  bytes.add_common(common);
  for (std::uint64_t i = 0; i < 50000; ++i) bytes.add_function(16 + i, 0x1000 + 16 * i, 16);
  EXPECT_TRUE(read(bytes).rows.empty());
  EXPECT_EQ(read(bytes).unsupported, (std::map<std::string, std::uint64_t>{{"damaged record", 50000}}));
}

TEST(Hostile, MoreCommonRecordsThanThereIsRoomFor) {
  FrameBytes bytes;
  bytes.add_common();
  const Bytes one = bytes.bytes();
  for (int i = 0; i < 300000; ++i) bytes.add_raw(one);
  bytes.add_function(0, 0x1000, 0x10);
  EXPECT_EQ(read(bytes).rows.size(), 2u);
}

TEST(Hostile, RememberedStatesAreBounded) {
  FrameBytes bytes;
  bytes.add_function(bytes.add_common(), 0x1000, 0x10, joined({Bytes(1000000, 0x0a), restless(4)}));
  const UnwindTable table = read(bytes);
  EXPECT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.unsupported.count("more remembered states than any compiler writes"), 1u);
}

TEST(Hostile, RulesAreBounded) {
  Bytes instructions;
  for (std::uint64_t i = 0; i < 40000; ++i) {
    append(instructions, {0x41, 0x0e});
    append(instructions, uleb(8 * i));
  }
  FrameBytes bytes;
  bytes.add_function(bytes.add_common(), 0x1000, 0x100000, instructions);
  const UnwindTable table = read(bytes);
  EXPECT_LE(table.rows.size(), std::size_t{HAWK_MAX_RULES} + 2);
  EXPECT_GT(table.unsupported.at("more different rules than there is room for"), 20000u);
}

TEST(Hostile, RowsAreBounded) {
  FrameBytes bytes;
  constexpr std::size_t kMaxRows = 100;
  bytes.add_function(bytes.add_common(), 0x1000, 0x1000, restless(1000));
  const UnwindTable table = read(bytes, kMaxRows);
  EXPECT_EQ(table.rows.size(), kMaxRows + 2) << "one that says so, and the end";
  EXPECT_EQ(table.rows[kMaxRows].rule, std::uint32_t{HAWK_RULE_UNSUPPORTED});
  EXPECT_EQ(table.rows.back().offset, 0x1000u);
  EXPECT_EQ(table.unsupported, (std::map<std::string, std::uint64_t>{{"more rows than there is room for", 901}}));
}

TEST(Hostile, AddressesAtTheEndsOfTheAddressSpace) {
  FrameBytes bytes(true);
  const std::uint64_t common = bytes.add_common({.augmentation = "", .augmentation_data = {}});
  bytes.add_function(common, UINT64_MAX, 1);
  bytes.add_function(common, UINT64_MAX - 0x10, 0x11);
  bytes.add_function(common, UINT64_MAX - 0x10, 0x10, restless(40));
  bytes.add_function(common, 1, UINT64_MAX);
  const UnwindTable table = read(bytes);
  EXPECT_EQ(table.base_vaddr, UINT64_MAX - 0x10);
  EXPECT_EQ(table.unsupported, (std::map<std::string, std::uint64_t>{{"damaged record", 3}}));
}

TEST(Hostile, LengthsBeyondTheSection) {
  for (const Bytes& length :
       {Bytes{0xff, 0xff, 0xff, 0x7f}, joined({{0xff, 0xff, 0xff, 0xff}, little_endian(UINT64_MAX, 8)}),
        joined({{0xff, 0xff, 0xff, 0xff}, little_endian(1ull << 63, 8)}), Bytes{0xff, 0xff, 0xff, 0xff}}) {
    FrameBytes bytes;
    bytes.add_function(bytes.add_common(), 0x1000, 0x10);
    bytes.add_raw(length);
    EXPECT_EQ(read(bytes).rows.size(), 2u) << "what comes before is kept";
    EXPECT_EQ(read(bytes).unsupported, (std::map<std::string, std::uint64_t>{{"damaged record", 1}}));
  }
}

}  // namespace
}  // namespace hawk
