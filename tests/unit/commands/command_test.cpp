#include "userspace/commands/command.h"

#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include "tests/unit/report/golden_file.h"
#include "userspace/commands/emergency_memory.h"

namespace hawk {

// Of the program, where it takes the place of operator new. Nothing is traced here.
void allow_emergency_memory() {}

namespace {

TEST(Commands, HaveNamesOfTheirOwnAndAreFoundByThem) {
  std::set<std::string> words;
  for (const Command& command : commands()) {
    EXPECT_TRUE(words.insert(command.word).second) << command.word;
    const char* const argv[] = {"hawktrace", command.word, nullptr};
    EXPECT_EQ(&find_command(2, argv), &command);
    EXPECT_EQ(command.text().name, std::string("hawktrace") + (*command.word == '\0' ? "" : " ") + command.word);
  }
  EXPECT_STREQ(commands().front().word, "");
}

TEST(Commands, AreNamedByTheFirstOnesHelp) {
  const std::string last = commands().front().text().usage.back();
  for (const Command& command : commands()) EXPECT_NE(last.find(command.word), std::string::npos) << command.word;
}

TEST(Commands, WithoutANameAreTheFirst) {
  const char* const argv[] = {"hawktrace", "-p", "1", nullptr};
  EXPECT_EQ(&find_command(3, argv), &commands().front());
  EXPECT_EQ(&find_command(1, argv), &commands().front());
}

std::string help_of(const Command& command) {
  const std::vector<std::string> words = {"--help"};
  const auto parsed = parse_command_line(command.text(), command.rows(), words);
  return parsed && std::holds_alternative<InfoText>(*parsed) ? std::get<InfoText>(*parsed).text : "";
}

/// What `hawktrace --help` says is what scripts and habits rest on.
TEST(CommandsGolden, Help) { expect_golden("help.txt", help_of(commands().front())); }

TEST(Commands, HaveHelpThatFitsATerminal) {
  for (const Command& command : commands()) {
    std::istringstream help(help_of(command));
    std::size_t lines = 0;
    for (std::string line; std::getline(help, line); ++lines) EXPECT_LE(line.size(), 80U) << line;
    EXPECT_GT(lines, 20U) << command.word;
  }
}

}  // namespace
}  // namespace hawk
