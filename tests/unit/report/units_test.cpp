#include "userspace/report/units.h"

#include <gtest/gtest.h>

#include <clocale>
#include <limits>

namespace hawk {
namespace {

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kSecondNs = 1'000'000'000;

TEST(Units, BytesGetTheLargestFittingUnit) {
  EXPECT_EQ(format_bytes(0, NumberStyle::kReadable), "0 B");
  EXPECT_EQ(format_bytes(512, NumberStyle::kReadable), "512 B");
  EXPECT_EQ(format_bytes(1023, NumberStyle::kReadable), "1023 B");
  EXPECT_EQ(format_bytes(1024, NumberStyle::kReadable), "1.00 KiB");
  EXPECT_EQ(format_bytes(1536 * 1024, NumberStyle::kReadable), "1.50 MiB");
  EXPECT_EQ(format_bytes(std::uint64_t{5} << 40, NumberStyle::kReadable), "5.00 TiB");
  EXPECT_EQ(format_bytes(kMax, NumberStyle::kReadable), "16.00 EiB");
}

TEST(Units, BytesThatRoundUpToTheNextUnitTakeIt) {
  EXPECT_EQ(format_bytes(1024 * 1024 - 1, NumberStyle::kReadable), "1.00 MiB");
  EXPECT_EQ(format_bytes(1024 * 1024 - 6, NumberStyle::kReadable), "1023.99 KiB");
  EXPECT_EQ(format_bytes(1024 + 5, NumberStyle::kReadable), "1.00 KiB");
  EXPECT_EQ(format_bytes(1024 + 6, NumberStyle::kReadable), "1.01 KiB");
}

TEST(Units, RawNumbersAreDigitsOnly) {
  EXPECT_EQ(format_bytes(1572864, NumberStyle::kRaw), "1572864 B");
  EXPECT_EQ(format_count(1572864, NumberStyle::kRaw), "1572864");
}

TEST(Units, CountsAreGrouped) {
  EXPECT_EQ(format_count(0, NumberStyle::kReadable), "0");
  EXPECT_EQ(format_count(999, NumberStyle::kReadable), "999");
  EXPECT_EQ(format_count(1000, NumberStyle::kReadable), "1,000");
  EXPECT_EQ(format_count(123456, NumberStyle::kReadable), "123,456");
  EXPECT_EQ(format_count(kMax, NumberStyle::kReadable), "18,446,744,073,709,551,615");
  EXPECT_EQ(format_blocks(1, NumberStyle::kReadable), "1 block");
  EXPECT_EQ(format_blocks(0, NumberStyle::kReadable), "0 blocks");
}

TEST(Units, ChangesCarryTheirSign) {
  EXPECT_EQ(format_bytes_change(10, 10, NumberStyle::kReadable), "0 B");
  EXPECT_EQ(format_bytes_change(0, 2048, NumberStyle::kReadable), "+2.00 KiB");
  EXPECT_EQ(format_bytes_change(2048, 0, NumberStyle::kReadable), "-2.00 KiB");
  EXPECT_EQ(format_bytes_change(0, kMax, NumberStyle::kRaw), "+18446744073709551615 B");
}

TEST(Units, DurationsHaveTwoSteps) {
  EXPECT_EQ(format_duration(0), "0 ms");
  EXPECT_EQ(format_duration(250'000'000), "250 ms");
  EXPECT_EQ(format_duration(10 * kSecondNs), "10.0 s");
  EXPECT_EQ(format_duration(59'999'999'999), "59.9 s");
  EXPECT_EQ(format_duration(125 * kSecondNs), "2 m 05 s");
  EXPECT_EQ(format_duration((3 * 3600 + 7 * 60) * kSecondNs), "3 h 07 m");
  EXPECT_EQ(format_duration((4 * 24 + 2) * 3600 * kSecondNs), "4 d 02 h");
}

TEST(Units, SharesNeverClaimNothingOrAllWrongly) {
  EXPECT_EQ(format_share(0, 0), "0.0 %");
  EXPECT_EQ(format_share(0, 10), "0.0 %");
  EXPECT_EQ(format_share(1, kMax), "<0.1 %");
  EXPECT_EQ(format_share(kMax - 1, kMax), ">99.9 %");
  EXPECT_EQ(format_share(kMax, kMax), "100.0 %");
  EXPECT_EQ(format_share(142, 1000), "14.2 %");
  EXPECT_EQ(format_share(1, 3), "33.3 %");
  EXPECT_EQ(format_share(2, 3), "66.7 %");
}

TEST(Units, AveragesAndRatesRoundAndSurviveTheExtremes) {
  EXPECT_EQ(average_bytes(10, 0), 0U);
  EXPECT_EQ(average_bytes(10, 4), 3U);
  EXPECT_EQ(average_bytes(kMax, 1), kMax);
  EXPECT_EQ(per_second(10, 0), 0U);
  EXPECT_EQ(per_second(10, 2 * kSecondNs), 5U);
  EXPECT_EQ(per_second(1, kSecondNs / 2), 2U);
  EXPECT_EQ(per_second(kMax, 1), kMax);
}

TEST(Units, TheLocaleChangesNothing) {
  const std::string before = std::setlocale(LC_ALL, nullptr);
  std::setlocale(LC_ALL, "");
  EXPECT_EQ(format_bytes(1536 * 1024, NumberStyle::kReadable), "1.50 MiB");
  EXPECT_EQ(format_count(1234567, NumberStyle::kReadable), "1,234,567");
  std::setlocale(LC_ALL, before.c_str());
}

}  // namespace
}  // namespace hawk
