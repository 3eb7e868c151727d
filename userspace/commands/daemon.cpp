// Traces the targets of a configuration, as a service.
#include "userspace/commands/daemon.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <variant>
#include <vector>

#include "userspace/base/option_values.h"
#include "userspace/commands/command.h"
#include "userspace/commands/config.h"
#include "userspace/commands/trace_options.h"

namespace hawk {
namespace {

constexpr const char* kDaemonGroup = "Daemon";
constexpr const char* kUsage[] = {"[--config FILE]", "--unit UNIT [--config FILE]"};
constexpr Example kExamples[] = {
    {"hawktrace config --example > hawktrace.toml", "a configuration to begin with"},
    {"sudo hawktrace daemon --config hawktrace.toml", "in the foreground, until Ctrl-C"},
    {"sudo systemctl start hawktrace", "as a service"},
    {"sudo systemctl start hawktrace@nginx.service", "for one unit, without a configuration"},
};
constexpr ExitRow kExits[] = {
    {"0", "it was asked to end (SIGTERM, SIGINT)"},
    {"2", "malformed command line, or a mistake in the configuration"},
    {"4", "not permitted, or the kernel lacks something"},
    {"6", "a file could not be read, or a directory could not be created"},
};

Result<std::string> path_of(OptionValue value) {
  if (!value.text.empty()) return std::string(value.text);
  return fail(ExitCode::kUsage, std::string(value.option) + ": the value is empty", "give a name");
}

/// It is also the name of a directory.
Result<std::string> unit_of(OptionValue value) {
  std::string unit = HAWK_TRY(path_of(value));
  const auto is_foreign = [](char c) { return c == '/' || static_cast<unsigned char>(c) <= ' ' || c == 0x7f; };
  if (unit.front() != '.' && unit.size() < 256 && std::none_of(unit.begin(), unit.end(), is_foreign)) return unit;
  return fail(ExitCode::kUsage, fmt::format("{}: '{}' is no name of a unit", value.option, unit),
              "systemctl list-units shows them; a path is escaped with systemd-escape");
}

}  // namespace

const CommandText& daemon_text() {
  static const CommandText text = {
      .name = "hawktrace daemon",
      .title = "trace the services of a configuration",
      .summary = "Traces the services that a configuration names, as long as it runs.",
      .description =
          "hawktrace daemon finds the processes of its targets as they start, traces them or watches their memory, and "
          "records what they hold. When one of them ends, is killed or runs out of memory, its last state is recorded, "
          "and the journal names the stacks that held most. SIGHUP reads the configuration again; traces of targets "
          "that stay go on. See hawktrace-config(1) for the configuration.",
      .usage = kUsage,
      .examples = kExamples,
      .exits = kExits,
      .command_exits = {},
  };
  return text;
}

OptionRows daemon_rows(DaemonCommandOptions& options) {
  using Value = OptionRow::Value;
  OptionRows rows;
  rows.push_back({"--config", Value::kRequired, "FILE", kDaemonGroup,
                  "the configuration (default\n/etc/hawktrace/hawktrace.toml; with --unit it need not\nexist)",
                  [&options](OptionValue v) -> Result<void> {
                    options.config_path = HAWK_TRY(path_of(v));
                    return {};
                  }});
  rows.push_back(
      {"--unit", Value::kRequired, "UNIT", kDaemonGroup,
       "trace this systemd unit alone, without HTTP; what the\nconfiguration says of a target with this name "
       "holds",
       [&options](OptionValue v) -> Result<void> {
         options.unit = HAWK_TRY(unit_of(v));
         return {};
       }});
  add_common_rows(rows, options.verbosity);
  return rows;
}

Result<int> daemon_command(int argc, const char* const* argv) {
  DaemonCommandOptions options;
  const std::vector<std::string> words(argv + std::min(argc, 2), argv + argc);
  const auto parsed = HAWK_TRY(parse_command_line(daemon_text(), daemon_rows(options), words));
  if (const InfoText* info = std::get_if<InfoText>(&parsed)) return print_info(info->text);
  HAWK_TRY_VOID(check_verbosity(daemon_text(), std::get<ParsedLine>(parsed)));
  const bool may_do_without = !options.unit.empty() && ::access(kDefaultConfig, F_OK) != 0;
  if (options.config_path.empty() && !may_do_without) options.config_path = kDefaultConfig;
  set_verbosity(options.verbosity);
  std::signal(SIGPIPE, SIG_IGN);
  return run_daemon(options);
}

}  // namespace hawk
