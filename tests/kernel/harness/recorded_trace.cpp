#include "tests/kernel/harness/recorded_trace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

#include "tests/kernel/harness/child_process.h"
#include "tests/support/file_content.h"

namespace hawk {
namespace {

using Words = std::vector<std::string>;

bool keeps_names = false;

/// The part in which two texts differ, which are too long to be shown.
std::string difference(const std::string& live, const std::string& recorded) {
  constexpr std::size_t kShown = 300;
  const auto [a, b] = std::mismatch(live.begin(), live.end(), recorded.begin(), recorded.end());
  const auto at = static_cast<std::size_t>(a - live.begin());
  const std::size_t from = at < kShown ? 0 : at - kShown;
  return "live:\n" + live.substr(from, 2 * kShown) + "\nrecorded:\n" + recorded.substr(from, 2 * kShown);
}

/// Those of a trace that say what its report shows.
Words options_of_report(const Words& options) {
  Words chosen;
  for (auto word = options.begin(); word != options.end(); ++word) {
    if (*word == "--min-size" || *word == "--by" || *word == "--generation")
      chosen.insert(chosen.end(), {*word, *std::next(word)});
  }
  return chosen;
}

}  // namespace

void keep_names_in_recordings() { keeps_names = true; }
void forget_recordings() { keeps_names = false; }

bool is_recorded(Way way) {
  return way == Way::kSessionArena || way == Way::kMultiHash || way == Way::kPerfHash || way == Way::kCfiArena;
}

std::vector<std::string> recording_command(Way way, const std::string& report_path, const std::string& recording) {
  Words words = hawktrace_command(way, report_path);
  *std::find(words.begin(), words.end(), "-o") = "--report";
  words.insert(words.begin() + 1, {"record", "-o", recording});
  if (keeps_names || way != Way::kCfiArena) words.insert(words.begin() + 2, "--symbols");
  return words;
}

void expect_same_as_recorded(const std::string& recording, const std::string& report_path, const Words& options) {
  Words words = {HAWKTRACE_PATH, "report", recording, "-q", "--format", "json", "--top", "0"};
  const Words chosen = options_of_report(options);
  words.insert(words.end(), chosen.begin(), chosen.end());
  ChildProcess hawktrace({.argv = words});
  const std::string recorded = hawktrace.read_to_end();
  EXPECT_EQ(hawktrace.wait(), 0) << hawktrace.errors();
  EXPECT_EQ(hawktrace.errors(), "");
  const std::string live = content_of(report_path);
  EXPECT_TRUE(live == recorded) << difference(live, recorded);
}

}  // namespace hawk
