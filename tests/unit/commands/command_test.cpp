#include "userspace/commands/command.h"

#include <gtest/gtest.h>

#include <set>
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

/// `hawktrace --help` says what it has always said, and every command has such a page.
TEST(CommandsGolden, Help) {
  for (const Command& command : commands()) {
    const std::vector<std::string> words = {"--help"};
    const auto parsed = parse_command_line(command.text(), command.rows(), words);
    ASSERT_TRUE(parsed);
    const std::string word = command.word;
    expect_golden(word.empty() ? "help.txt" : "help_" + word + ".txt", std::get<InfoText>(*parsed).text);
  }
}

}  // namespace
}  // namespace hawk
