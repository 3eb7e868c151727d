// Asks the daemon what it does.
#include "userspace/commands/status.h"

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "userspace/base/option_values.h"
#include "userspace/commands/command.h"
#include "userspace/commands/option_setters.h"
#include "userspace/commands/trace_options.h"
#include "userspace/serving/local_request.h"

namespace hawk {
namespace {

constexpr const char* kDaemonGroup = "Daemon";
constexpr const char* kUsage[] = {"[OPTIONS]"};
constexpr Example kStatusExamples[] = {{"sudo hawktrace status", "all targets, one line each"},
                                       {"sudo hawktrace status --json", "for scripts, with the processes"}};
constexpr Example kListExamples[] = {{"sudo hawktrace list", "all processes of all targets"}};
constexpr ExitRow kExits[] = {
    {"0", "the daemon has answered"},
    {"2", "malformed command line"},
    {"3", "no daemon answers at the socket"},
    {"4", "not permitted"},
    {"6", "what answers there is no hawktrace daemon, or does not answer in time"},
};

/// The tables of targets and of processes have an empty line between them.
std::string part_of(const std::string& text, bool wants_processes) {
  const std::size_t end = text.find("\n\n");
  if (end == std::string::npos) return text;
  return wants_processes ? text.substr(end + 2) : text.substr(0, end + 1);
}

Result<int> ask(const CommandText& text, bool wants_processes, int argc, const char* const* argv) {
  StatusOptions options;
  const std::vector<std::string> words(argv + std::min(argc, 2), argv + argc);
  const auto parsed = HAWK_TRY(parse_command_line(text, status_rows(options), words));
  if (const InfoText* info = std::get_if<InfoText>(&parsed)) return print_info(info->text);
  HAWK_TRY_VOID(check_verbosity(text, std::get<ParsedLine>(parsed)));
  set_verbosity(options.verbosity);
  const std::string answer = HAWK_TRY(get_over_socket(options.socket, options.json ? "/targets" : "/status"));
  return print_info(options.json ? answer : part_of(answer, wants_processes));
}

}  // namespace

const CommandText& status_text() {
  static const CommandText text = {
      .name = "hawktrace status",
      .title = "show what the daemon does",
      .summary = "Shows the targets of a running hawktrace daemon, and what they hold.",
      .description =
          "hawktrace status asks the daemon over its unix socket. LIVE is what the traced processes have allocated "
          "since "
          "they are traced and not freed, ANONYMOUS their memory that belongs to no file, OVERHEAD what the probes "
          "cost "
          "them, as a share of one processor.",
      .usage = kUsage,
      .examples = kStatusExamples,
      .exits = kExits,
      .command_exits = {},
  };
  return text;
}

const CommandText& list_text() {
  static const CommandText text = {
      .name = "hawktrace list",
      .title = "list the processes of the daemon's targets",
      .summary = "Lists the processes of all targets of a running hawktrace daemon.",
      .description =
          "hawktrace list asks the daemon over its unix socket. A process that is left out is listed with the reason.",
      .usage = kUsage,
      .examples = kListExamples,
      .exits = kExits,
      .command_exits = {},
  };
  return text;
}

OptionRows status_rows(StatusOptions& options) {
  using Value = OptionRow::Value;
  OptionRows rows;
  rows.push_back({"--socket", Value::kRequired, "PATH", kDaemonGroup,
                  "where the daemon listens (default\n/run/hawktrace/hawktrace.sock)",
                  [&options](OptionValue v) -> Result<void> {
                    options.socket = std::string(v.text);
                    return {};
                  }});
  rows.push_back({"--json", Value::kNone, nullptr, kDaemonGroup, "all targets and their processes as JSON",
                  turn_on(options.json)});
  add_common_rows(rows, options.verbosity);
  return rows;
}

Result<int> status_command(int argc, const char* const* argv) { return ask(status_text(), false, argc, argv); }

Result<int> list_command(int argc, const char* const* argv) { return ask(list_text(), true, argc, argv); }

}  // namespace hawk
