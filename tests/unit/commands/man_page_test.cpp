#include "userspace/commands/man_page.h"

#include <gtest/gtest.h>
#include <stdio.h>

#include <algorithm>
#include <array>
#include <string>

#include "userspace/commands/option_table.h"

namespace hawk {
namespace {

/// As roff has "--top".
std::string escaped(std::string text) {
  for (std::size_t at = text.find('-'); at != std::string::npos; at = text.find('-', at + 2)) text.insert(at, "\\");
  return text;
}

TEST(ManPage, HasEveryOptionExampleAndStatus) {
  const std::string page = man_page();
  for (const OptionRow& row : option_rows()) {
    EXPECT_NE(page.find("\\fB" + escaped(full_name(row.names)) + "\\fR"), std::string::npos) << row.names;
  }
  for (const Example& example : examples()) EXPECT_NE(page.find(escaped(example.command)), std::string::npos);
  for (const Format& format : formats()) {
    EXPECT_NE(page.find(std::string("\\fB") + format.name + "\\fR (." + format.extension), std::string::npos);
  }
  for (const ExitRow& row : exit_rows()) EXPECT_NE(page.find(std::string("\\fB") + row.code), std::string::npos);
}

TEST(ManPage, NamesEveryVariableThatIsRead) {
  const std::string page = man_page();
  const std::string environment = page.substr(page.find(".SH ENVIRONMENT"));
  for (const char* name : {"NO_COLOR", "LC_ALL", "LC_CTYPE", "LANG", "TERM", "PATH"}) {
    EXPECT_NE(environment.find("\\fB" + escaped(name) + "\\fR"), std::string::npos) << name;
  }
}

/// What groff has to say of it, with all its warnings.
TEST(ManPage, IsWellFormed) {
  const std::string command = "groff -man -Tutf8 -ww -z 2>&1 <<'END_OF_PAGE'\n" + man_page() + "END_OF_PAGE\n";
  FILE* const groff = ::popen(command.c_str(), "r");
  ASSERT_NE(groff, nullptr);
  std::string said;
  std::array<char, 256> buffer{};
  while (::fgets(buffer.data(), buffer.size(), groff) != nullptr) said += buffer.data();
  EXPECT_EQ(::pclose(groff), 0) << said;
  EXPECT_EQ(said, "");
}

}  // namespace
}  // namespace hawk
