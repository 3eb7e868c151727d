// The live screen as its user sees it: the real program on a real terminal, key by key.
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/kernel/harness/ledger.h"
#include "tests/kernel/harness/tmux_terminal.h"

namespace hawk {
namespace {

using Screen = std::vector<std::string>;

std::string pid_of(const LedgerProgram& program) { return std::to_string(program.pid()); }

/// What the lines of the list say behind their numbers.
std::vector<std::string> names_on(const Screen& list) {
  std::vector<std::string> names;
  for (const std::string& line : list) {
    const std::size_t name = line.find("leaf");
    if (name != std::string::npos) names.push_back(line.substr(name));
  }
  return names;
}

/// A program with thousands of stacks that hold something, and hawktrace's screen on it.
class live_screen : public testing::Test {
 protected:
  void open(std::size_t columns, std::size_t rows, const std::string& locale = "C.UTF-8") {
    terminal_ = std::make_unique<TmuxTerminal>(
        std::vector<std::string>{HAWKTRACE_PATH, "-p", std::to_string(program_.pid()), "--interval", "100ms"}, columns,
        rows, locale);
    // The first screen is drawn when every probe is in place.
    terminal_->wait_for("q quit");
  }
  void open_with_stacks(std::size_t columns, std::size_t rows, const std::string& locale = "C.UTF-8") {
    open(columns, rows, locale);
    program_.run();
    wait_for_stacks(rows);
  }
  /// The screen may have been drawn when the program had begun to allocate; then keys go to a list of few stacks.
  void wait_for_stacks(std::size_t rows) {
    terminal_->wait_until([rows](const Screen& list) { return names_on(list).size() > rows / 2; });
  }
  TmuxTerminal& terminal() { return *terminal_; }

  LedgerProgram program_{{.program = "distinct_stacks"}};
  std::unique_ptr<TmuxTerminal> terminal_;
};

TEST_F(live_screen, list_and_stack) {
  open(200, 60);
  terminal().wait_for_all({"no allocation yet", "exact"});
  program_.run();
  wait_for_stacks(60);
  EXPECT_EQ(terminal().wait_for_all({"stacks 1 to", "LIVE▼", "leaf"}).size(), 60U);
  terminal().press("Down");
  terminal().wait_for("Esc top");
  terminal().press("Enter");
  terminal().wait_for_all({"stack 2 in the list", "digit_", "main"});
  terminal().press("Escape");
  terminal().wait_for("FUNCTION < CALLERS");
}

TEST_F(live_screen, several_processes) {
  LedgerProgram other({.program = "every_function"});
  TmuxTerminal terminal({HAWKTRACE_PATH, "-p", pid_of(program_) + " " + pid_of(other), "--interval", "100ms"}, 200, 60,
                        "C.UTF-8");
  terminal.wait_for_all({"2 processes  ", "no allocation yet", "exact"});
  program_.run();
  other.run();
  terminal.wait_for_all({"LIVE▼", "leaf"});
  terminal.press("P");
  terminal.wait_for_all({"(pid " + pid_of(program_) + "): exact", "(pid " + pid_of(other) + "): exact"});
  terminal.press("Escape");
  terminal.wait_for("FUNCTION < CALLERS");
  terminal.press("q");
  terminal.wait_for("2 processes, traced for ");
}

TEST_F(live_screen, rows_differ) {
  open_with_stacks(120, 60);
  // A screen may be seen half drawn; it is whole once no two lines are the same.
  terminal().wait_until([](const Screen& list) {
    const std::vector<std::string> names = names_on(list);
    return names.size() > 40 && std::set<std::string>(names.begin(), names.end()).size() == names.size();
  });
}

TEST_F(live_screen, every_key) {
  open_with_stacks(200, 60);
  const std::vector<std::pair<std::string, std::string>> keys = {{"c", "CHANGE▼"},
                                                                 {"k", "BLOCKS▼"},
                                                                 {"r", "ALLOC/s▼"},
                                                                 {"a", "ALLOCATED▼"},
                                                                 {"n", "ALLOCATIONS▼"},
                                                                 {"d", "FREES▼"},
                                                                 {"f", "FUNCTION▲"},
                                                                 {"l", "LIVE▼"},
                                                                 {"s", "CHANGE▼"},
                                                                 {"S", "LIVE▼"},
                                                                 {">", "CHANGE▼"},
                                                                 {"<", "LIVE▼"},
                                                                 {"b", " B  "},
                                                                 {"b", "KiB"},
                                                                 {"p", "PAUSED"},
                                                                 {"p", "p pause"},
                                                                 {"?", "regular expression"},
                                                                 {"?", "LIVE▼"},
                                                                 {"P", "one process is traced"},
                                                                 {"P", "LIVE▼"},
                                                                 {"NPage", "Esc top"},
                                                                 {"End", "Esc top"},
                                                                 {"Home", "stacks 1 to"},
                                                                 {"Right", "stack 1 in the list"},
                                                                 {"F", "F fold frames"},
                                                                 {"Left", "LIVE▼"}};
  for (const auto& [key, expected] : keys) {
    terminal().press(key);
    terminal().wait_for(expected);
  }
  terminal().type("/leaf|nosuch");
  terminal().wait_for("/leaf|nosuch_");
  terminal().press("Enter");
  terminal().wait_for("filter /leaf|nosuch/");
  terminal().press("Escape");
  terminal().wait_until([](const Screen& screen) { return !shows(screen, "filter /leaf"); });
}

TEST_F(live_screen, mouse) {
  open_with_stacks(100, 24);
  terminal().wait_for("LIVE▼");
  // As tmux sends them to its programs (X10): the first button, pressed and let go in column 5 of row 9; twice.
  terminal().type("\x1b[M %)\x1b[M#%)");
  terminal().wait_for("Esc top");
  terminal().type("\x1b[M %)\x1b[M#%)");
  terminal().wait_for("in the list");
}

TEST_F(live_screen, tiny) {
  open(12, 3);
  program_.run();
  const Screen screen = terminal().wait_until(
      [](const Screen& now) { return now.size() == 3 && now[1].find("iB") != std::string::npos; });
  EXPECT_TRUE(screen[2].starts_with("q quit")) << as_text(screen);
  terminal().press("Enter");
  terminal().wait_for("stack 1");
  terminal().resize(100, 30);
  terminal().wait_for("digit_");
}

TEST_F(live_screen, plain_characters) {
  open_with_stacks(100, 24, "C");
  const Screen list = terminal().wait_for("LIVEv");
  for (const std::string& line : list) {
    for (const char character : line) EXPECT_LT(static_cast<unsigned char>(character), 0x80) << line;
  }
}

TEST_F(live_screen, quit) {
  open_with_stacks(100, 30);
  terminal().press("q");
  // The report is longer than the terminal: its summary is in sight.
  const Screen last = terminal().wait_for_all({"traced for", "FUNCTION", "peak live", "nothing was missed"});
  EXPECT_FALSE(shows(last, "q quit")) << as_text(last);
}

}  // namespace
}  // namespace hawk
