#pragma once

#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "userspace/base/option_values.h"
#include "userspace/base/result.h"

namespace hawk {

/// An option or argument of a command: its data for --help, the man page and the parser.
struct OptionRow {
  enum class Value {
    kNone,
    kOptional,  ///< given as --name=VALUE
    kRequired,
    kArgument,  ///< not an option but a word without a name, which parse_command_line() returns to its caller
  };

  const char* names;       ///< short one first: "-p,--pid"
  Value value;             ///< what follows
  const char* value_name;  ///< "PID"; null without one
  const char* group;       ///< the heading below which it is explained
  std::string help;        ///< lines for a terminal of 80 columns
  /// Where the value goes. Empty for an argument, --help and --version.
  std::function<Result<void>(OptionValue value)> set = {};
  bool is_list = false;  ///< may be given again: `set` is called for each
};
using OptionRows = std::vector<OptionRow>;

/// An example of use, and what it does.
struct Example {
  const char* command;
  const char* what;
};

/// An exit status, and when hawktrace ends with it. `code` is text, because one stands for a range.
struct ExitRow {
  const char* code;
  const char* meaning;
};

/// The text about a command, apart from its options.
struct CommandText {
  const char* name;                    ///< as it is typed: "hawktrace record"
  const char* title;                   ///< what it does, for a list of commands: without a full stop
  const char* summary;                 ///< the sentence that --help begins with
  const char* description;             ///< for the man page
  std::span<const char* const> usage;  ///< each way to use it, without the name: "[OPTIONS] -p PID"
  std::span<const Example> examples;
  std::span<const ExitRow> exits;
  std::span<const ExitRow> command_exits;  ///< where it starts one (-- COMMAND); empty: it never does
};

/// The one spelling of an option that all messages use: "--pid" of "-p,--pid".
std::string full_name(std::string_view names);

/// The answer to --help or --version: to be printed to stdout, after which hawktrace ends with kOk.
struct InfoText {
  std::string text;
};

/// The result of parsing a command line, apart from the values of options, which have been set.
struct ParsedLine {
  std::set<std::string> given;         ///< options, by their full names
  std::vector<std::string> arguments;  ///< words without a name; more than asked for only where one is too many

  bool has(std::string_view option) const { return given.contains(std::string(option)); }
};

/// Parses the words of a command line and sets the options in `rows`. Every error is kUsage, one line that names the
/// option and the value, with a hint.
Result<std::variant<ParsedLine, InfoText>> parse_command_line(const CommandText& text, const OptionRows& rows,
                                                              std::span<const std::string> words,
                                                              std::size_t max_arguments = 0);

/// A malformed command line. Without a hint: where the options are listed.
tl::unexpected<Error> usage_error(const CommandText& text, std::string what, std::string hint = {});

}  // namespace hawk
