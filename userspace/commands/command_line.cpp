// CLI11 knows the grammar (-p1, -p 1, --pid=1, -qv) and lays out the help; what a value means, and every message, is
// ours: CLI11's are several lines long and name no remedy. So CLI11 hands each option over as plain text, and the
// function in its row converts it after the parse. Each command has a parser of its own, which the first word chooses.
#include "userspace/commands/command_line.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace hawk {
namespace {

using Value = OptionRow::Value;

constexpr std::size_t kExampleColumns = 44;
constexpr std::size_t kHelpColumn = 24;

std::string exit_lines(std::span<const ExitRow> rows) {
  std::string lines;
  for (const ExitRow& row : rows) lines += fmt::format("  {:<5}  {}\n", row.code, row.meaning);
  return lines;
}

std::string examples_and_exit_codes(const CommandText& command) {
  std::string text = "Examples:\n";
  for (const Example& example : command.examples) {
    const bool fits = std::string_view(example.command).size() < kExampleColumns;
    text += fits ? fmt::format("  {:<{}}{}\n", example.command, kExampleColumns, example.what)
                 : fmt::format("  {}\n", example.command);
  }
  text += "\nExit status:\n" + exit_lines(command.exits);
  if (!command.command_exits.empty()) text += "With -- COMMAND:\n" + exit_lines(command.command_exits);
  text.pop_back();
  return text;
}

/// An argument as CLI11 lays out options.
std::string argument_lines(const OptionRow& row) {
  std::string name = fmt::format("  {}{}{}", row.names, *row.names == '\0' ? "" : " ", row.value_name);
  std::string lines = fmt::format("{:<{}}", name, kHelpColumn);
  for (const char c : row.help + "\n") {
    if (c == '\n' && lines.back() != '\n') lines += c;
    if (c != '\n' && lines.back() == '\n') lines.append(kHelpColumn, ' ');
    if (c != '\n') lines += c;
  }
  return lines;
}

/// CLI11's layout with hawktrace's usage lines, and with rows for arguments, which are not options for CLI11.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter(const CommandText& text, const OptionRows& rows) : text_(text), rows_(rows) {
    column_width(kHelpColumn);
  }
  std::string make_usage(const CLI::App*, std::string) const override {
    std::string usage = "\nUsage:\n";
    for (const char* way : text_.usage) usage += fmt::format("  {} {}\n", text_.name, way);
    return usage + "\n";
  }
  /// The groups that have only arguments.
  std::string make_positionals(const CLI::App*) const override {
    std::string text;
    for (const OptionRow& row : rows_) {
      if (row.value == Value::kArgument && !has_options(row.group)) {
        text += fmt::format("{}:\n{}", row.group, argument_lines(row));
      }
    }
    return text;
  }
  /// Without the second empty line between groups.
  std::string make_group(std::string group, bool is_positional,
                         std::vector<const CLI::Option*> options) const override {
    std::string text = CLI::Formatter::make_group(group, is_positional, std::move(options)).substr(1);
    for (const OptionRow& row : rows_) {
      if (row.value == Value::kArgument && group == row.group) text += argument_lines(row);
    }
    return text;
  }

 private:
  bool has_options(std::string_view group) const {
    return std::any_of(rows_.begin(), rows_.end(),
                       [group](const OptionRow& row) { return row.value != Value::kArgument && group == row.group; });
  }

  const CommandText& text_;
  const OptionRows& rows_;
};

/// The value as shown after the option's name.
std::string value_text(const OptionRow& row) {
  return row.value == Value::kOptional ? fmt::format("[={}]", row.value_name) : row.value_name;
}

void add_option_row(CLI::App& app, const OptionRow& row) {
  if (row.value == Value::kNone) {
    app.add_flag(row.names)->disable_flag_override()->group(row.group)->description(row.help);
    return;
  }
  // To CLI11 an option whose value may be left out is a flag whose meaning may be changed.
  const bool is_optional = row.value == Value::kOptional;
  CLI::Option* option = is_optional ? app.add_flag(row.names) : app.add_option(row.names);
  // All occurrences are kept so that a second one can be refused with hawktrace's own message.
  option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  option->type_name(value_text(row))->group(row.group)->description(row.help);
}

void set_up_parser(CLI::App& app, const CommandText& text, const OptionRows& rows) {
  app.name(text.name);
  app.description(text.summary);
  app.formatter(std::make_shared<HelpFormatter>(text, rows));
  app.footer(examples_and_exit_codes(text));
  app.allow_extras();
  // Groups are printed in the order in which their first option was added: --help, which a new App has, comes last.
  app.set_help_flag();
  for (const OptionRow& row : rows) {
    if (row.value == Value::kArgument) continue;
    if (row.set) {
      add_option_row(app, row);
    } else if (full_name(row.names) == "--help") {
      app.set_help_flag(row.names, row.help)->group(row.group);
    } else {
      app.set_version_flag(row.names, "hawktrace " HAWKTRACE_VERSION, row.help)->group(row.group);
    }
  }
}

std::string name_of(const CLI::Option& option) { return "--" + option.get_lnames().front(); }

/// CLI11 names the option of an error only in its message: it is the first word of the message.
tl::unexpected<Error> translate_mismatch(const CommandText& text, const CLI::App& app,
                                         const CLI::ArgumentMismatch& mismatch) {
  std::string name = mismatch.what();
  name.resize(std::min(name.find_first_of(": "), name.size()));
  if (!name.starts_with('-')) name.insert(0, "--");
  const CLI::Option* option = app.get_option_no_throw(name);
  if (option == nullptr) return usage_error(text, mismatch.what());
  if (option->get_expected_max() == 0) return usage_error(text, fmt::format("{}: takes no value", name_of(*option)));
  return usage_error(text, fmt::format("{}: needs a value", name_of(*option)));
}

/// CLI11 takes the next argument for the value, even if that is an option: "-p --top 5".
bool is_known_option(const CLI::App& app, const std::string& text) {
  return text.starts_with('-') && app.get_option_no_throw(text.substr(0, text.find('='))) != nullptr;
}

/// The values given for an option, one text for each occurrence. Empty texts for an option without a value.
std::vector<std::string> texts_of(const CLI::App& app, const OptionRow& row) {
  const CLI::Option& option = *app.get_option(full_name(row.names));
  if (row.value == Value::kRequired) return option.results();
  std::vector<std::string> texts(row.value == Value::kNone ? std::min<std::size_t>(option.count(), 1) : 0);
  if (row.value == Value::kNone) return texts;
  for (const std::string& text : option.results()) texts.push_back(text == "true" ? "" : text);
  return texts;
}

Result<void> apply_rows(const CommandText& text, const CLI::App& app, const OptionRows& rows, ParsedLine& line) {
  for (const OptionRow& row : rows) {
    if (!row.set) continue;
    const std::string name = full_name(row.names);
    const std::vector<std::string> texts = texts_of(app, row);
    if (texts.empty()) continue;
    const auto is_option = [&app](const std::string& value) { return is_known_option(app, value); };
    if (std::any_of(texts.begin(), texts.end(), is_option)) {
      return usage_error(text, fmt::format("{}: needs a value", name));
    }
    if (texts.size() > 1 && !row.is_list) {
      return usage_error(text, fmt::format("{}: '{}' is a second value", name, texts[1]), "give the option only once");
    }
    for (const std::string& value : texts) {
      HAWK_TRY_VOID(row.set({.option = name, .text = value, .command = text.name}));
    }
    line.given.insert(name);
  }
  return {};
}

/// About "--tpo": the option that was probably meant.
tl::unexpected<Error> unknown_option(const CommandText& text, const CLI::App& app, const std::string& word) {
  const std::string option = word.substr(0, word.find('='));
  std::vector<std::string_view> names;
  for (const CLI::Option* known : app.get_options({})) names.emplace_back(known->get_lnames().front());
  const std::string_view nearest =
      nearest_name(std::string_view(option).substr(std::min(option.find_first_not_of('-'), option.size())), names);
  return usage_error(text, fmt::format("{}: no such option", option),
                     nearest.empty() ? "" : fmt::format("did you mean --{}?", nearest));
}

}  // namespace

std::string full_name(std::string_view names) { return std::string(names.substr(names.find("--"))); }

tl::unexpected<Error> usage_error(const CommandText& text, std::string what, std::string hint) {
  if (hint.empty()) hint = fmt::format("{} --help lists all options", text.name);
  return fail(ExitCode::kUsage, std::move(what), std::move(hint));
}

Result<std::variant<ParsedLine, InfoText>> parse_command_line(const CommandText& text, const OptionRows& rows,
                                                              std::span<const std::string> words,
                                                              std::size_t max_arguments) {
  CLI::App app;
  set_up_parser(app, text, rows);
  try {
    std::vector<std::string> reversed(words.rbegin(), words.rend());
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    return InfoText{app.help()};
  } catch (const CLI::CallForVersion&) {
    return InfoText{app.version() + "\n"};
  } catch (const CLI::ArgumentMismatch& mismatch) {
    return translate_mismatch(text, app, mismatch);
  } catch (const CLI::Error& error) {
    return usage_error(text, fmt::format("command line: {}", error.what()));
  }
  ParsedLine line;
  HAWK_TRY_VOID(apply_rows(text, app, rows, line));
  const std::vector<std::string> leftovers = app.remaining();
  for (auto word = leftovers.begin(); word != leftovers.end(); ++word) {
    if (word->starts_with('-')) return unknown_option(text, app, *word);
    line.arguments.push_back(*word);
    if (line.arguments.size() <= max_arguments) continue;
    line.arguments.insert(line.arguments.end(), word + 1, leftovers.end());
    break;
  }
  return line;
}

}  // namespace hawk
