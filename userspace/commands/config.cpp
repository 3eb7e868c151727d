// Checks a configuration of the daemon, or prints an example of one.
#include "userspace/commands/config.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "userspace/commands/command.h"
#include "userspace/commands/option_setters.h"
#include "userspace/commands/trace_options.h"
#include "userspace/daemon/config_file.h"
#include "userspace/serving/serving.h"

namespace hawk {
namespace {

constexpr const char* kConfigGroup = "Configuration";
constexpr const char* kUsage[] = {"--check [FILE]", "--example"};
constexpr Example kExamples[] = {
    {"hawktrace config --check", "before systemctl reload hawktrace"},
    {"hawktrace config --check ./hawktrace.toml", "another file and its drop-ins"},
    {"hawktrace config --example > hawktrace.toml", "a file to begin with"},
};
constexpr ExitRow kExits[] = {
    {"0", "the configuration is valid, or the example was printed"},
    {"2", "malformed command line, or a mistake in the configuration"},
    {"6", "a file could not be read"},
};

Result<int> check(const std::string& path) {
  const std::vector<ConfigText> files = HAWK_TRY(read_config(path));
  const DaemonConfig config = HAWK_TRY(parse_config(files));
  HAWK_TRY_VOID(check_serving_options(config.serve));
  std::string text;
  for (const TargetConfig& target : config.targets) {
    const std::string what = target.pid_file.empty() ? text_of(target.processes) : "--pid-file " + target.pid_file;
    text += fmt::format("{}: {}, mode {}\n", target.name, what, target_mode_name(target.mode));
  }
  if (verbosity() == Verbosity::kQuiet) return static_cast<int>(ExitCode::kOk);
  const std::size_t count = config.targets.size();
  text += fmt::format("{}: valid, {} target{}\n", path, count, count == 1 ? "" : "s");
  return print_info(text);
}

}  // namespace

const CommandText& config_text() {
  static const CommandText text = {
      .name = "hawktrace config",
      .title = "check the daemon's configuration",
      .summary = "Checks a configuration of hawktrace daemon, or prints an example of one.",
      .description =
          "hawktrace config --check reads the configuration as the daemon would, with its drop-ins, and reports the "
          "first mistake with its file and line. hawktrace config --example prints a configuration in which each key "
          "is explained.",
      .usage = kUsage,
      .examples = kExamples,
      .exits = kExits,
      .command_exits = {},
  };
  return text;
}

OptionRows config_rows(ConfigOptions& options) {
  using Value = OptionRow::Value;
  OptionRows rows;
  rows.push_back({"", Value::kArgument, "FILE", kConfigGroup,
                  "the configuration (default\n/etc/hawktrace/hawktrace.toml); FILE.d/*.toml, without\n.toml in FILE, "
                  "override single keys"});
  rows.push_back({"--check", Value::kNone, nullptr, kConfigGroup,
                  "check the configuration and list its targets; nothing\nis traced", turn_on(options.check)});
  rows.push_back({"--example", Value::kNone, nullptr, kConfigGroup, "print a configuration that explains every key",
                  turn_on(options.example)});
  add_common_rows(rows, options.verbosity);
  return rows;
}

Result<int> config_command(int argc, const char* const* argv) {
  ConfigOptions options;
  const std::vector<std::string> words(argv + std::min(argc, 2), argv + argc);
  const auto parsed = HAWK_TRY(parse_command_line(config_text(), config_rows(options), words, 1));
  if (const InfoText* info = std::get_if<InfoText>(&parsed)) return print_info(info->text);
  const ParsedLine& line = std::get<ParsedLine>(parsed);
  HAWK_TRY_VOID(check_verbosity(config_text(), line));
  if (options.check == options.example || line.arguments.size() > 1) {
    return usage_error(config_text(), "give one of --check and --example, and at most one file");
  }
  set_verbosity(options.verbosity);
  if (options.example) return print_info(example_config());
  return check(line.arguments.empty() ? kDefaultConfig : line.arguments.front());
}

}  // namespace hawk
