#include "userspace/commands/man_page.h"

#include <gtest/gtest.h>
#include <stdio.h>

#include <algorithm>
#include <array>
#include <string>

#include "userspace/export/format.h"

namespace hawk {
namespace {

/// As roff has "--top".
std::string escaped(std::string text) {
  for (std::size_t at = text.find('-'); at != std::string::npos; at = text.find('-', at + 2)) text.insert(at, "\\");
  return text;
}

TEST(ManPage, HasEveryOptionExampleAndStatus) {
  for (const Command& command : commands()) {
    const std::string page = man_page(command);
    for (const OptionRow& row : command.rows()) {
      if (row.value == OptionRow::Value::kArgument) continue;
      EXPECT_NE(page.find("\\fB" + escaped(full_name(row.names)) + "\\fR"), std::string::npos) << row.names;
    }
    for (const Example& example : command.text().examples) {
      EXPECT_NE(page.find(escaped(example.command)), std::string::npos);
    }
    for (const ExitRow& row : command.text().exits) {
      EXPECT_NE(page.find(std::string("\\fB") + row.code), std::string::npos);
    }
  }
}

TEST(ManPage, HasEveryFormat) {
  const std::string page = man_page(commands().front());
  for (const Format& format : formats()) {
    EXPECT_NE(page.find("\\fB" + escaped(format.name) + "\\fR (." + format.extension), std::string::npos);
  }
}

TEST(ManPage, NamesEveryVariableThatIsRead) {
  const std::string page = man_page(commands().front());
  const std::string environment = page.substr(page.find(".SH ENVIRONMENT"));
  for (const char* name : {"NO_COLOR", "LC_ALL", "LC_CTYPE", "LANG", "TERM", "PATH"}) {
    EXPECT_NE(environment.find("\\fB" + escaped(name) + "\\fR"), std::string::npos) << name;
  }
}

/// What groff has to say of `page`, with all its warnings.
std::string complaints_about(const std::string& page) {
  const std::string command = "groff -man -Tutf8 -ww -z 2>&1 <<'END_OF_PAGE'\n" + page + "END_OF_PAGE\n";
  FILE* const groff = ::popen(command.c_str(), "r");
  if (groff == nullptr) return "groff cannot be started";
  std::string said;
  std::array<char, 256> buffer{};
  while (::fgets(buffer.data(), buffer.size(), groff) != nullptr) said += buffer.data();
  EXPECT_EQ(::pclose(groff), 0) << said;
  return said;
}

TEST(ManPage, IsWellFormed) {
  for (const Command& command : commands()) EXPECT_EQ(complaints_about(man_page(command)), "") << command.word;
}

}  // namespace
}  // namespace hawk
