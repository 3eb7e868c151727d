#include "userspace/daemon/recording_retention.h"

#include <gtest/gtest.h>

namespace hawk {
namespace {

using namespace std::chrono_literals;
using Names = std::vector<std::string>;

constexpr std::int64_t kHour = 3'600'000'000'000;

std::vector<DirectoryEntry> files() {
  return {{"d.hawk", 40, 4 * kHour}, {"a.hawk", 10, 1 * kHour}, {"b.hawk", 20, 2 * kHour}, {"c.hawk", 30, 3 * kHour}};
}

TEST(RecordingRetention, RemovesWhatIsOld) {
  EXPECT_EQ(recordings_to_remove(files(), "", 1000, 2h, 4 * kHour), (Names{"a.hawk"}));
  EXPECT_EQ(recordings_to_remove(files(), "", 1000, 4h, 4 * kHour), Names{});
}

TEST(RecordingRetention, AClockThatIsSetMakesNothingOld) {
  constexpr std::uint64_t kDay = 24 * kHour;
  const AgeClock clock(100 * kDay, 5 * kDay);
  EXPECT_EQ(clock.now_unix_ns(101 * kDay, 6 * kDay), static_cast<std::int64_t>(101 * kDay));
  EXPECT_EQ(clock.now_unix_ns(900 * kDay, 6 * kDay), static_cast<std::int64_t>(101 * kDay));
  EXPECT_EQ(clock.now_unix_ns(3 * kDay, 6 * kDay), static_cast<std::int64_t>(3 * kDay));
}

TEST(RecordingRetention, RemovesTheOldestUntilTheRestFits) {
  EXPECT_EQ(recordings_to_remove(files(), "", 100, 100h, 4 * kHour), Names{});
  EXPECT_EQ(recordings_to_remove(files(), "", 99, 100h, 4 * kHour), (Names{"a.hawk"}));
  EXPECT_EQ(recordings_to_remove(files(), "", 40, 100h, 4 * kHour), (Names{"a.hawk", "b.hawk", "c.hawk"}));
}

TEST(RecordingRetention, KeepsWhatIsWrittenAndWhatIsNotOurs) {
  std::vector<DirectoryEntry> some = files();
  some.push_back({"notes.txt", 1'000'000, 0});
  EXPECT_EQ(recordings_to_remove(some, "a.hawk", 0, 0h, 5 * kHour), (Names{"b.hawk", "c.hawk", "d.hawk"}));
}

}  // namespace
}  // namespace hawk
