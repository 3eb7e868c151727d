#include "userspace/commands/completions.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "userspace/commands/shell_completions.h"

namespace hawk {
namespace {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> pieces;
  while (!text.empty()) {
    const std::string_view piece = text.substr(0, text.find(separator));
    text.remove_prefix(std::min(piece.size() + 1, text.size()));
    pieces.emplace_back(piece);
  }
  return pieces;
}

/// A line that no shell takes for more than text, between single quotes.
std::string plain_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  std::erase_if(text, [](char c) { return c == '\'' || c == '"' || c == '`' || c == '\\' || c == '$'; });
  text.erase(text.find_last_not_of(" ,") + 1);
  return text;
}

/// What a list of options has room for: the help up to where it goes into detail.
std::string short_help(std::string_view help) {
  return plain_line(std::string(help.substr(0, std::min(help.find_first_of(";("), help.find(": ")))));
}

std::vector<std::string> choices_of(const OptionRow& row) {
  std::vector<std::string_view> choices;
  constexpr std::string_view kNoValue = "?";
  const Result<void> ignored =
      row.set({.option = full_name(row.names), .text = kNoValue, .command = "hawktrace", .choices = &choices});
  return ignored ? std::vector<std::string>() : std::vector<std::string>(choices.begin(), choices.end());
}

CompletedValue value_of(std::string_view value_name) {
  constexpr std::array<std::pair<std::string_view, CompletedValue>, 5> kByName = {{
      {"FILE", CompletedValue::kFile},
      {"DIR", CompletedValue::kDirectory},
      {"PID", CompletedValue::kPid},
      {"UNIT", CompletedValue::kUnit},
      {"USER", CompletedValue::kUser},
  }};
  for (const auto& [name, value] : kByName) {
    if (name == value_name) return value;
  }
  return CompletedValue::kNone;
}

CompletedOption completed(const OptionRow& row) {
  CompletedOption option = {.names = split(row.names, ','),
                            .takes = row.value,
                            .value_name = row.value_name == nullptr ? "" : row.value_name,
                            .help = short_help(row.help),
                            .is_list = row.is_list};
  option.value = value_of(option.value_name);
  // Files are opened by those who set them.
  if (row.set && row.value != OptionRow::Value::kNone && option.value == CompletedValue::kNone) {
    option.choices = choices_of(row);
    if (!option.choices.empty()) option.value = CompletedValue::kChoice;
  }
  return option;
}

}  // namespace

std::vector<CompletedCommand> completed_commands() {
  std::vector<CompletedCommand> completed_ones;
  for (const Command& command : commands()) {
    CompletedCommand one = {
        .word = command.word, .title = plain_line(command.text().title), .starts_commands = command.starts_commands()};
    for (const OptionRow& row : command.rows()) {
      if (row.value != OptionRow::Value::kArgument) {
        one.options.push_back(completed(row));
      } else {
        one.takes_files = one.takes_files || *row.names == '\0';
      }
    }
    completed_ones.push_back(std::move(one));
  }
  return completed_ones;
}

std::string completion_script(std::string_view shell) {
  const std::vector<CompletedCommand> completed_ones = completed_commands();
  if (shell == "bash") return bash_completions(completed_ones);
  if (shell == "zsh") return zsh_completions(completed_ones);
  if (shell == "fish") return fish_completions(completed_ones);
  return {};
}

}  // namespace hawk
