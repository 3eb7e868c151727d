#include "userspace/traces/recording_name.h"

#include <gtest/gtest.h>

namespace hawk {
namespace {

const RecordingSubject kSubject = {.host = "web1", .comm = "nginx", .pid = 42, .unix_seconds = 1790000000};

TEST(RecordingName, TakesWhatItIsNamedAfter) {
  EXPECT_EQ(recording_name("/var/%h/%e.%p.%t.hawk", kSubject), "/var/web1/nginx.42.1790000000.hawk");
  EXPECT_EQ(recording_name("100%%", kSubject), "100%");
  EXPECT_EQ(recording_name("plain", kSubject), "plain");
}

TEST(RecordingName, LeavesWhatStandsForNothing) {
  EXPECT_EQ(recording_name("%x%", kSubject), "%x%");
  EXPECT_EQ(recording_name("%%p", kSubject), "%p");
}

TEST(RecordingName, ATargetChoosesNoDirectory) {
  EXPECT_EQ(recording_name("%e", {.host = "", .comm = "../../etc/passwd", .pid = 1, .unix_seconds = 0}),
            "..!..!etc!passwd");
}

}  // namespace
}  // namespace hawk
