#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "userspace/base/result.h"
#include "userspace/commands/option_values.h"
#include "userspace/commands/options.h"

namespace hawk {

/// An option: what --help, the man page and the parser know of it.
struct OptionRow {
  enum class Value { kNone, kOptional, kRequired };

  const char* names;       ///< short one first: "-p,--pid"
  Value value;             ///< an optional one is given as --name=VALUE
  const char* value_name;  ///< "PID"; null without one
  const char* group;       ///< the heading below which it is explained
  const char* help;        ///< lines for a terminal of 80 columns; null: see make_help
  /// nullptr: --help or --version, which are no options of a trace.
  Result<void> (*set)(Options& options, OptionValue value);
  std::string (*make_help)() = nullptr;  ///< where `help` is null: it follows from a table

  std::string help_text() const { return help != nullptr ? help : make_help(); }
};

/// All of them, in the order of the help text.
std::span<const OptionRow> option_rows();

/// The group in which the target is chosen.
extern const char* const kTargetGroup;

/// The one spelling of an option that all messages use: "--pid" of "-p,--pid".
std::string full_name(std::string_view names);

/// An example of use, and what it does.
struct Example {
  const char* command;
  const char* what;
};
std::span<const Example> examples();

/// An exit status, and when hawktrace ends with it. `code` is text, because one stands for a range.
struct ExitRow {
  const char* code;
  const char* meaning;
};
/// With -p, and with -- COMMAND.
std::span<const ExitRow> exit_rows();
std::span<const ExitRow> command_exit_rows();

}  // namespace hawk
