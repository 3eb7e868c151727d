#include "tests/kernel/harness/untraced.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <exception>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

namespace hawk {
namespace {

constexpr std::string_view kVaries = "varies ";

/// What is seen of a run from outside.
struct Seen {
  std::vector<std::string> words = {};
  std::vector<std::string> errors = {};
  int status = -1;
};

std::vector<std::string> lines_of(const std::string& text, const std::function<std::string(std::string)>& comparable) {
  std::istringstream from(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(from, line);) lines.push_back(comparable(std::move(line)));
  return lines;
}

void let_it_end(ChildProcess& process, const Twin& twin) {
  if (process.has_ended()) return;
  if (twin.end_signal != 0) process.send_signal(twin.end_signal);
  process.close_input();
}

Seen see_the_end(ChildProcess& process, const Twin& twin) {
  process.read_to_end();
  const int status = process.wait();
  Seen seen{.words = lines_of(process.output_so_far(), twin.comparable),
            .errors = lines_of(process.errors(), twin.comparable),
            .status = status};
  twin.mask(seen.words);
  return seen;
}

Seen run_alone(const ChildProcess& traced, const Twin& twin) {
  twin.prepare();
  ChildProcess alone(twin.setup);
  traced.repeat_acts_on(alone, twin.comparable);
  return see_the_end(alone, twin);
}

/// A command's standard error is hawktrace's as well.
void drop_messages_of_hawktrace(std::vector<std::string>& lines) {
  std::erase_if(lines,
                [](const std::string& line) { return line.starts_with("hawktrace: ") || line.starts_with("hint: "); });
}

void expect_same(ChildProcess& traced, const Twin& twin, void (*drop)(std::vector<std::string>&)) {
  if (testing::Test::HasFailure() || testing::Test::IsSkipped() || std::uncaught_exceptions() > 0) return;
  try {
    let_it_end(traced, twin);
    Seen seen = see_the_end(traced, twin);
    drop(seen.errors);
    const Seen alone = run_alone(traced, twin);
    EXPECT_EQ(seen.words, alone.words) << "the target says what it says untraced";
    EXPECT_EQ(seen.errors, alone.errors) << "the target's standard error is what it is untraced";
    EXPECT_EQ(seen.status, alone.status) << "the target ends as it does untraced";
  } catch (const std::exception& thrown) {
    ADD_FAILURE() << "the run to compare with: " << thrown.what();
  }
}

}  // namespace

void expect_same_untraced(ChildProcess& traced, const Twin& twin) {
  expect_same(traced, twin, [](std::vector<std::string>&) {});
}

void expect_same_untraced_command(ChildProcess& hawktrace, const Twin& twin) {
  expect_same(hawktrace, twin, drop_messages_of_hawktrace);
}

void mask_ledger(std::vector<std::string>& lines) {
  std::set<std::string> varying;
  for (const std::string& line : lines) {
    if (line.starts_with(kVaries)) varying.insert(line.substr(kVaries.size()));
  }
  std::vector<std::string> masked;
  std::set<std::string> stacks;
  for (const std::string& line : lines) {
    std::istringstream words(line);
    std::string kind, name;
    words >> kind >> name;
    if (kind == "stack") {
      stacks.insert(kind + " " + name + " of " + std::to_string(std::count(line.begin(), line.end(), ' ') - 1));
    } else if (kind != "holds" && kind != "broken_if_traced") {
      masked.push_back(varying.contains(name) ? kind + " " + name : line);
    }
  }
  masked.insert(masked.end(), stacks.begin(), stacks.end());
  lines = std::move(masked);
}

}  // namespace hawk
