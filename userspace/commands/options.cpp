// The command line. CLI11 knows the grammar (-p1, -p 1, --pid=1, -qv) and lays out the help; what a value means, and
// every message, is ours: CLI11's are several lines long and name no remedy. So CLI11 hands each option over as plain
// text, and the function in its row of the table of options converts it after the parse.
#include "userspace/commands/options.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "userspace/commands/option_table.h"
#include "userspace/commands/option_values.h"
#include "userspace/commands/process_choice.h"

namespace hawk {
namespace {

constexpr std::size_t kExampleColumns = 44;

std::string exit_lines(std::span<const ExitRow> rows) {
  std::string lines;
  for (const ExitRow& row : rows) lines += fmt::format("  {:<5}  {}\n", row.code, row.meaning);
  return lines;
}

std::string examples_and_exit_codes() {
  std::string text = "Examples:\n";
  for (const Example& example : examples()) {
    const bool fits = std::string_view(example.command).size() < kExampleColumns;
    text += fits ? fmt::format("  {:<{}}{}\n", example.command, kExampleColumns, example.what)
                 : fmt::format("  {}\n", example.command);
  }
  text += "\nExit status:\n" + exit_lines(exit_rows());
  text += "With -- COMMAND:\n" + exit_lines(command_exit_rows());
  text.pop_back();
  return text;
}

/// CLI11's layout with our usage lines.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() { column_width(24); }
  std::string make_usage(const CLI::App*, std::string) const override {
    return "\nUsage:\n"
           "  hawktrace [OPTIONS] -p PID\n"
           "  hawktrace [OPTIONS] -- COMMAND [ARGS...]\n\n";
  }
  /// Without the second empty line between groups; and with the row of what is no option to CLI11.
  std::string make_group(std::string group, bool is_positional,
                         std::vector<const CLI::Option*> options) const override {
    std::string text = CLI::Formatter::make_group(group, is_positional, std::move(options)).substr(1);
    if (group == kTargetGroup) {
      text +=
          "  -- COMMAND [ARGS...]  start it, with the probes in place before its first\n"
          "                        instruction\n";
    }
    return text;
  }
};

/// How the value is shown behind the option's name.
std::string value_text(const OptionRow& row) {
  return row.value == OptionRow::Value::kOptional ? fmt::format("[={}]", row.value_name) : row.value_name;
}

void add_option_row(CLI::App& app, const OptionRow& row) {
  if (row.value == OptionRow::Value::kNone) {
    app.add_flag(row.names)->disable_flag_override()->group(row.group)->description(row.help_text());
    return;
  }
  // To CLI11 an option whose value may be left out is a flag whose meaning may be changed.
  const bool is_optional = row.value == OptionRow::Value::kOptional;
  CLI::Option* option = is_optional ? app.add_flag(row.names) : app.add_option(row.names);
  // All occurrences are kept so that a second one can be refused in our words.
  option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  option->type_name(value_text(row))->group(row.group)->description(row.help_text());
}

void set_up_parser(CLI::App& app) {
  app.name("hawktrace");
  app.description("Shows which call stacks of a process hold the heap that it allocates.");
  app.formatter(std::make_shared<HelpFormatter>());
  app.footer(examples_and_exit_codes());
  app.allow_extras();
  // Groups are printed in the order in which their first option was added: --help, which a new App has, comes last.
  app.set_help_flag();
  for (const OptionRow& row : option_rows()) {
    if (row.set != nullptr) {
      add_option_row(app, row);
    } else if (full_name(row.names) == "--help") {
      app.set_help_flag(row.names, row.help_text())->group(row.group);
    } else {
      app.set_version_flag(row.names, "hawktrace " HAWKTRACE_VERSION, row.help_text())->group(row.group);
    }
  }
}

std::string name_of(const CLI::Option& option) { return "--" + option.get_lnames().front(); }

tl::unexpected<Error> usage_error(std::string what, std::string hint = "hawktrace --help lists all options") {
  return fail(ExitCode::kUsage, std::move(what), std::move(hint));
}

/// CLI11 says only in its message which option an error is about: it is the word that the message begins with.
tl::unexpected<Error> translate_mismatch(const CLI::App& app, const CLI::ArgumentMismatch& mismatch) {
  std::string name = mismatch.what();
  name.resize(std::min(name.find_first_of(": "), name.size()));
  if (!name.starts_with('-')) name.insert(0, "--");
  const CLI::Option* option = app.get_option_no_throw(name);
  if (option == nullptr) return usage_error(mismatch.what());
  if (option->get_expected_max() == 0) return usage_error(fmt::format("{}: takes no value", name_of(*option)));
  return usage_error(fmt::format("{}: needs a value", name_of(*option)));
}

/// CLI11 takes the next argument for the value, even if that is an option: "-p --top 5".
bool is_known_option(const CLI::App& app, const std::string& text) {
  return text.starts_with('-') && app.get_option_no_throw(text.substr(0, text.find('='))) != nullptr;
}

/// What was given for an option; a text for each time. Empty texts for one without a value.
std::vector<std::string> texts_of(const CLI::App& app, const OptionRow& row) {
  const CLI::Option& option = *app.get_option(full_name(row.names));
  if (row.value == OptionRow::Value::kRequired) return option.results();
  std::vector<std::string> texts(row.value == OptionRow::Value::kNone ? std::min<std::size_t>(option.count(), 1) : 0);
  if (row.value == OptionRow::Value::kNone) return texts;
  for (const std::string& text : option.results()) texts.push_back(text == "true" ? "" : text);
  return texts;
}

Result<void> apply_rows(const CLI::App& app, Options& options) {
  for (const OptionRow& row : option_rows()) {
    if (row.set == nullptr) continue;
    const std::string name = full_name(row.names);
    const std::vector<std::string> texts = texts_of(app, row);
    if (texts.empty()) continue;
    if (is_known_option(app, texts.front())) return usage_error(fmt::format("{}: needs a value", name));
    if (texts.size() > 1) {
      return usage_error(fmt::format("{}: '{}' is a second value", name, texts[1]), "give the option only once");
    }
    HAWK_TRY_VOID(row.set(options, {name, texts.front()}));
  }
  return {};
}

Result<void> refuse_contradictions(const CLI::App& app, const Options& options) {
  if (app.get_option("--quiet")->count() > 0 && app.get_option("--verbose")->count() > 0) {
    return usage_error("use either --quiet or --verbose, not both", "leave one of them out");
  }
  if (options.kill_command && (!options.starts_command() || !options.duration)) {
    return usage_error("--kill: there is no command that could outlive the trace",
                       "it goes with --duration: hawktrace --duration 10 --kill -- COMMAND");
  }
  return {};
}

/// What to say about "--tpo": the option that was probably meant.
std::string unknown_option_hint(const CLI::App& app, std::string_view text) {
  std::vector<std::string_view> names;
  for (const CLI::Option* option : app.get_options({})) names.emplace_back(option->get_lnames().front());
  const std::string_view nearest = nearest_name(text.substr(std::min(text.find_first_not_of('-'), text.size())), names);
  if (nearest.empty()) return "hawktrace --help lists all options";
  return fmt::format("did you mean --{}?", nearest);
}

Result<void> refuse_leftovers(const CLI::App& app, const Options& options) {
  const std::vector<std::string> leftovers = app.remaining();
  if (leftovers.empty()) return {};
  const std::string& first = leftovers.front();
  if (first.starts_with('-')) {
    const std::string option = first.substr(0, first.find('='));
    return usage_error(fmt::format("{}: no such option", option), unknown_option_hint(app, option));
  }
  std::string hint = fmt::format("to start a command: hawktrace -- {}", first);
  const bool is_number = !first.empty() && first.find_first_not_of("0123456789") == std::string::npos;
  if (options.trace.pid && is_number) {
    std::string given = std::to_string(*options.trace.pid);
    for (const std::string& text : leftovers) given += " " + text;
    if (const std::vector<int> pids = several_pids(given); !pids.empty()) return refuse_several_processes(pids);
    hint = "one process at a time: give -p a single number";
  } else if (is_number) {
    hint = fmt::format("to attach to that process: hawktrace -p {}", first);
  } else if (options.trace.pid || !options.trace.command.empty() || first.empty()) {
    hint = "hawktrace --help lists all options";
  }
  return usage_error(fmt::format("'{}': unexpected argument", first), std::move(hint));
}

Result<void> check_target(const Options& options, bool has_separator) {
  if (options.trace.pid && has_separator) {
    return usage_error("use either -p or -- COMMAND, not both", "leave one of them out");
  }
  if (has_separator && options.trace.command.empty()) {
    return usage_error("--: no command follows", "hawktrace -- COMMAND [ARGS...]");
  }
  if (!options.trace.pid && !has_separator) {
    return usage_error("nothing to trace: neither -p PID nor -- COMMAND was given",
                       "hawktrace -p PID, or hawktrace -- COMMAND; hawktrace --help explains both");
  }
  return {};
}

}  // namespace

Selection Options::selection() const {
  const std::size_t default_top = format->is_for_people ? kTopForPeople : 0;
  return {.sort = sort, .top = top.value_or(default_top), .min_size_bytes = min_size_bytes};
}

Result<ParsedOptions> parse_options(int argc, const char* const* argv) {
  const std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  const auto separator = std::find(arguments.begin(), arguments.end(), "--");
  const bool has_separator = separator != arguments.end();
  Options options;
  if (has_separator) options.trace.command.assign(separator + 1, arguments.end());

  CLI::App app;
  set_up_parser(app);
  try {
    std::vector<std::string> reversed(std::make_reverse_iterator(separator), arguments.rend());
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    return InfoText{app.help()};
  } catch (const CLI::CallForVersion&) {
    return InfoText{app.version() + "\n"};
  } catch (const CLI::ArgumentMismatch& mismatch) {
    return translate_mismatch(app, mismatch);
  } catch (const CLI::Error& error) {
    return usage_error(fmt::format("command line: {}", error.what()));
  }
  HAWK_TRY_VOID(apply_rows(app, options));
  HAWK_TRY_VOID(refuse_leftovers(app, options));
  HAWK_TRY_VOID(check_target(options, has_separator));
  HAWK_TRY_VOID(refuse_contradictions(app, options));
  return options;
}

bool use_color(ColorChoice choice, bool is_terminal, const char* no_color, const char* term) {
  if (choice != ColorChoice::kAuto) return choice == ColorChoice::kAlways;
  if (!is_terminal || (no_color != nullptr && *no_color != '\0')) return false;
  return term != nullptr && std::string_view(term) != "dumb";
}

}  // namespace hawk
