#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "userspace/commands/command.h"

namespace hawk {

/// What can stand for the value of an option, or for an argument.
enum class CompletedValue {
  kNone,  ///< nothing that could be completed: a number, a time
  kChoice,
  kFile,
  kDirectory,
  kPid,
  kUnit,  ///< of systemd
  kUser,
};

/// An option as shells complete it.
struct CompletedOption {
  std::vector<std::string> names;  ///< "-o", "--output"
  OptionRow::Value takes = OptionRow::Value::kNone;
  std::string value_name;
  CompletedValue value = CompletedValue::kNone;
  std::vector<std::string> choices = {};
  std::string help;  ///< a line without quotes
  bool is_list = false;
};

/// A command as shells complete it.
struct CompletedCommand {
  std::string word;
  std::string title;
  std::vector<CompletedOption> options = {};
  bool takes_files = false;      ///< arguments are files
  bool starts_commands = false;  ///< -- COMMAND
};

/// All commands, from the rows that their parsers are made of.
std::vector<CompletedCommand> completed_commands();

/// A script for "bash", "zsh" or "fish", to be installed where that looks for completions of hawktrace; empty for any
/// other.
std::string completion_script(std::string_view shell);

}  // namespace hawk
