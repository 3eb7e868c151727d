#include "userspace/commands/man_page.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "userspace/export/format.h"

namespace hawk {
namespace {

/// `text` for roff: commands and escapes are quoted, and lines that were broken for a terminal are
/// joined.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '\n') {
      out += ' ';
    } else {
      if ((c == '.' || c == '\'') && out.empty()) out += "\\&";
      out += c;
    }
  }
  return out;
}

/// Placeholders, which are words in capitals, in italics: "[\fIARGS\fR...]".
std::string with_variables(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = std::min(text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ", at), text.size()) - at;
    if (length > 0) out += fmt::format("\\fI{}\\fR", text.substr(at, length));
    if (length == 0) out += roff(text.substr(at, 1));
    at += std::max<std::size_t>(length, 1);
  }
  return out;
}

/// "-p PID": the option in bold.
std::string usage_line(const CommandText& command, std::string_view usage) {
  std::string line = fmt::format("\\fB{}\\fR", roff(command.name));
  while (!usage.empty()) {
    const std::string_view word = usage.substr(0, usage.find(' '));
    usage.remove_prefix(std::min(word.size() + 1, usage.size()));
    line += word.starts_with('-') ? fmt::format(" \\fB{}\\fR", roff(word)) : " " + with_variables(word);
  }
  return line + "\n";
}

/// "\fB\-p\fR, \fB\-\-pid\fR \fIPID\fR"
std::string option_heading(const OptionRow& row) {
  std::string heading;
  for (std::string_view rest = row.names; !rest.empty();) {
    const std::string_view name = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(name.size() + 1, rest.size()));
    heading += fmt::format("{}\\fB{}\\fR", heading.empty() ? "" : ", ", roff(name));
  }
  if (row.value == OptionRow::Value::kArgument) {
    return fmt::format("{}{}{}", heading, heading.empty() ? "" : " ", with_variables(row.value_name));
  }
  if (row.value == OptionRow::Value::kOptional) return heading + fmt::format("[=\\fI{}\\fR]", roff(row.value_name));
  if (row.value == OptionRow::Value::kRequired) return heading + fmt::format(" \\fI{}\\fR", roff(row.value_name));
  return heading;
}

std::string options_text(const OptionRows& rows) {
  std::string text = ".SH OPTIONS\n";
  std::string_view group;
  for (const OptionRow& row : rows) {
    if (group != row.group) {
      group = row.group;
      text += fmt::format(".SS {}\n", roff(group));
    }
    text += fmt::format(".TP\n{}\n{}\n", option_heading(row), roff(row.help));
  }
  return text;
}

std::string exit_text(std::span<const ExitRow> rows) {
  std::string text;
  for (const ExitRow& row : rows) text += fmt::format(".TP\n\\fB{}\\fR\n{}\n", roff(row.code), roff(row.meaning));
  return text;
}

std::string formats_text() {
  std::string text = ".SH FORMATS\n";
  for (const Format& format : formats()) {
    text +=
        fmt::format(".TP\n\\fB{}\\fR (.{})\n{}\n", roff(format.name), roff(format.extension), roff(format.description));
  }
  return text;
}

std::string examples_text(const CommandText& command) {
  std::string text = ".SH EXAMPLES\n";
  for (const Example& example : command.examples) {
    text += fmt::format(".TP\n\\fB{}\\fR\n{}\n", roff(example.command), roff(example.what));
  }
  return text;
}

/// "HAWKTRACE\-RECORD"
std::string page_name(const CommandText& command) {
  std::string name = command.name;
  std::transform(name.begin(), name.end(), name.begin(), [](char c) {
    if (c == ' ') return '-';
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return name;
}

/// The name of the page: "hawktrace\-record"
std::string entry_name(const CommandText& command) {
  std::string name = command.name;
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

std::string see_also(const CommandText& command) {
  std::string text = ".SH SEE ALSO\n";
  for (const Command& other : commands()) {
    const CommandText& named = other.text();
    if (&named != &command) text += fmt::format("\\fB{}\\fR(1), ", roff(entry_name(named)));
  }
  return text + "\\fBperf\\fR(1), \\fBheaptrack\\fR(1), \\fBvalgrind\\fR(1)\n";
}

bool has_formats(const OptionRows& rows) {
  return std::any_of(rows.begin(), rows.end(), [](const OptionRow& row) {
    return row.value_name != nullptr && row.value_name == std::string_view("FORMAT");
  });
}

constexpr const char* kEnvironment =
    ".SH ENVIRONMENT\n.TP\n\\fBNO_COLOR\\fR\nif set and not empty, reports have no colours\n"
    ".TP\n\\fBLC_ALL\\fR, \\fBLC_CTYPE\\fR, \\fBLANG\\fR\n"
    "the first that is set and not empty names the locale: if that is not UTF\\-8, only ASCII characters are "
    "printed\n"
    ".TP\n\\fBTERM\\fR\nif unset or \\fIdumb\\fR, there is no live screen, and reports have no colours\n";
constexpr const char* kPathText = ".TP\n\\fBPATH\\fR\nwhere a \\fICOMMAND\\fR without a slash is looked for\n";

}  // namespace

std::string man_page(const Command& described) {
  const CommandText& command = described.text();
  const OptionRows rows = described.rows();
  std::string page = fmt::format(".TH {} 1 \"\" \"hawktrace " HAWKTRACE_VERSION
                                 "\" \"User Commands\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n",
                                 roff(page_name(command)), roff(entry_name(command)), roff(command.title));
  for (std::size_t i = 0; i < command.usage.size(); ++i) {
    page += (i == 0 ? "" : ".br\n") + usage_line(command, command.usage[i]);
  }
  page += fmt::format(".SH DESCRIPTION\n{}\n", roff(command.description)) + options_text(rows);
  if (has_formats(rows)) page += formats_text();
  page += examples_text(command) + ".SH EXIT STATUS\n" + exit_text(command.exits);
  if (described.starts_commands()) {
    page += ".PP\nWith \\fB\\-\\-\\fR \\fICOMMAND\\fR:\n" + exit_text(command.command_exits);
  }
  return page + kEnvironment + (described.starts_commands() ? kPathText : "") + see_also(command);
}

}  // namespace hawk
