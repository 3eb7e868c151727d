#include "userspace/commands/man_page.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "userspace/commands/option_table.h"
#include "userspace/export/format.h"

namespace hawk {
namespace {

/// `text` as roff takes it: what would be a command or an escape is not, and lines that were broken for a terminal are
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

/// "\fB\-p\fR, \fB\-\-pid\fR \fIPID\fR"
std::string option_heading(const OptionRow& row) {
  std::string heading;
  for (std::string_view rest = row.names; !rest.empty();) {
    const std::string_view name = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(name.size() + 1, rest.size()));
    heading += fmt::format("{}\\fB{}\\fR", heading.empty() ? "" : ", ", roff(name));
  }
  if (row.value == OptionRow::Value::kOptional) return heading + fmt::format("[=\\fI{}\\fR]", roff(row.value_name));
  if (row.value == OptionRow::Value::kRequired) return heading + fmt::format(" \\fI{}\\fR", roff(row.value_name));
  return heading;
}

std::string options_text() {
  std::string text = ".SH OPTIONS\n";
  std::string_view group;
  for (const OptionRow& row : option_rows()) {
    if (group != row.group) {
      group = row.group;
      text += fmt::format(".SS {}\n", roff(group));
      if (group == kTargetGroup) {
        text +=
            ".TP\n\\fB\\-\\-\\fR \\fICOMMAND\\fR [\\fIARGS\\fR...]\nstart it, with the probes in place before its "
            "first "
            "instruction\n";
      }
    }
    text += fmt::format(".TP\n{}\n{}\n", option_heading(row), roff(row.help_text()));
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

std::string examples_text() {
  std::string text = ".SH EXAMPLES\n";
  for (const Example& example : examples()) {
    text += fmt::format(".TP\n\\fB{}\\fR\n{}\n", roff(example.command), roff(example.what));
  }
  return text;
}

}  // namespace

std::string man_page() {
  return ".TH HAWKTRACE 1 \"\" \"hawktrace " HAWKTRACE_VERSION
         "\" \"User Commands\"\n"
         ".SH NAME\nhawktrace \\- show which call stacks of a process hold its heap\n"
         ".SH SYNOPSIS\n"
         "\\fBhawktrace\\fR [\\fIOPTIONS\\fR] \\fB\\-p\\fR \\fIPID\\fR\n.br\n"
         "\\fBhawktrace\\fR [\\fIOPTIONS\\fR] \\fB\\-\\-\\fR \\fICOMMAND\\fR [\\fIARGS\\fR...]\n"
         ".SH DESCRIPTION\n"
         "hawktrace attaches to a running process with eBPF probes on its allocator, without stopping, restarting or "
         "rebuilding it, and reports by call stack which code holds the heap allocated since then. Nothing is sampled: "
         "the report is exact, or it says what is missing. Child processes are not traced; they are counted and their "
         "programs are named.\n" +
         options_text() + formats_text() + examples_text() + ".SH EXIT STATUS\n" + exit_text(exit_rows()) +
         ".PP\nWith \\fB\\-\\-\\fR \\fICOMMAND\\fR:\n" + exit_text(command_exit_rows()) +
         ".SH ENVIRONMENT\n.TP\n\\fBNO_COLOR\\fR\nif set and not empty, reports have no colours\n"
         ".TP\n\\fBLC_ALL\\fR, \\fBLC_CTYPE\\fR, \\fBLANG\\fR\n"
         "the first that is set and not empty names the locale: if that is not UTF\\-8, only ASCII characters are "
         "printed\n"
         ".TP\n\\fBTERM\\fR\nif unset or \\fIdumb\\fR, there is no live screen, and reports have no colours\n"
         ".TP\n\\fBPATH\\fR\nwhere a \\fICOMMAND\\fR without a slash is looked for\n"
         ".SH SEE ALSO\n\\fBperf\\fR(1), \\fBheaptrack\\fR(1), \\fBvalgrind\\fR(1)\n";
}

}  // namespace hawk
