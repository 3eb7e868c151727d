#include "userspace/commands/shell_completions.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

namespace hawk {
namespace {

using Value = OptionRow::Value;

/// The words of all commands that have one.
std::string words_of(std::span<const CompletedCommand> commands, std::string_view separator) {
  std::string words;
  for (const CompletedCommand& command : commands) {
    if (!command.word.empty()) words += fmt::format("{}{}", words.empty() ? "" : separator, command.word);
  }
  return words;
}

// --- bash

constexpr const char* kBashKinds[] = {"none", "choice", "file", "directory", "pid", "unit", "user"};

std::string bash_options(const CompletedCommand& command) {
  std::string words;
  for (const CompletedOption& option : command.options) {
    for (const std::string& name : option.names) {
      words += fmt::format("{}{}{}", words.empty() ? "" : " ", name, option.takes == Value::kOptional ? "=" : "");
    }
  }
  return words;
}

/// "record,-o|record,--output) kind=file ;;"
std::string bash_value(const CompletedCommand& command, const CompletedOption& option) {
  std::string pattern;
  for (const std::string& name : option.names) {
    pattern += fmt::format("{}{},{}", pattern.empty() ? "" : "|", command.word, name);
  }
  std::string row = fmt::format("    {}) kind={}", pattern, kBashKinds[static_cast<std::size_t>(option.value)]);
  if (!option.choices.empty()) row += fmt::format(" words='{}'", fmt::join(option.choices, " "));
  return row + " ;;\n";
}

constexpr const char* kBashHead = R"sh(# Completions of hawktrace for bash: made from its options.
_hawktrace() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command= kind= words= files= i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    [[ ${COMP_WORDS[i]} == -- ]] || continue
    if declare -F _command_offset >/dev/null; then
      _command_offset $((i + 1))
    elif ((COMP_CWORD == i + 1)); then
      mapfile -t COMPREPLY < <(compgen -c -- "$cur")
    else
      compopt -o default 2>/dev/null
    fi
    return
  done
  # --name=value is three words.
  if [[ $cur == = ]]; then
    cur=
  elif [[ $prev == = ]]; then
    prev=${COMP_WORDS[COMP_CWORD-2]}
  fi
)sh";

constexpr const char* kBashTail = R"sh(
  case $kind in
    choice) mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur"); return ;;
    file) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$cur"); return ;;
    directory) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$cur"); return ;;
    pid) mapfile -t COMPREPLY < <(compgen -W "$(cd /proc && echo [0-9]*)" -- "$cur"); return ;;
    unit)
      words=$(systemctl list-units --type=service --plain --no-legend 2>/dev/null | cut -d ' ' -f 1)
      mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur"); return ;;
    user) mapfile -t COMPREPLY < <(compgen -u -- "$cur"); return ;;
    none) return ;;
  esac
  if [[ $cur == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
    [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
  elif ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W "$all" -- "$cur")
  elif [[ $files ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$cur")
  fi
}
complete -F _hawktrace hawktrace
)sh";

// --- zsh

/// A text in a specification of _arguments, which is between single quotes.
std::string zsh_text(std::string_view text) {
  std::string quoted;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':') quoted += '\\';
    quoted += c;
  }
  return quoted;
}

std::string zsh_action(const CompletedOption& option) {
  switch (option.value) {
    case CompletedValue::kChoice:
      return fmt::format("({})", fmt::join(option.choices, " "));
    case CompletedValue::kFile:
      return "_files";
    case CompletedValue::kDirectory:
      return "_files -/";
    case CompletedValue::kPid:
      return "_hawktrace_pids";
    case CompletedValue::kUnit:
      return "_hawktrace_units";
    case CompletedValue::kUser:
      return "_users";
    case CompletedValue::kNone:
      break;
  }
  return " ";
}

/// "'*'{-p,--pid}'[help]:PID:_pids'"
std::string zsh_option(const CompletedOption& option) {
  std::string names;
  const char* equals = option.takes == Value::kOptional ? "=-" : "";
  for (const std::string& name : option.names) names += fmt::format("{}{}{}", names.empty() ? "" : ",", name, equals);
  if (option.names.size() > 1) {
    const std::string others = option.is_list ? "*" : fmt::format("({})", fmt::join(option.names, " "));
    names = fmt::format("'{}'{{{}}}", others, names);
  } else {
    names = fmt::format("'{}{}'", option.is_list ? "*" : "", names);
  }
  std::string spec = fmt::format("{}'[{}]", names, zsh_text(option.help));
  if (option.takes != Value::kNone) {
    spec += fmt::format("{}{}:{}", option.takes == Value::kOptional ? "::" : ":", zsh_text(option.value_name),
                        zsh_action(option));
  }
  return spec + "'";
}

constexpr const char* kZshHead = R"sh(#compdef hawktrace
# Completions of hawktrace for zsh: made from its options.
_hawktrace_pids() {
  compadd -- /proc/<->(N:t)
}

_hawktrace_units() {
  local -a units
  units=(${${(f)"$(systemctl list-units --type=service --plain --no-legend 2>/dev/null)"}%% *})
  compadd -a units
}

_hawktrace() {
  local -i separator=${words[(Ie)--]}
  local -a named
  if ((separator && separator < CURRENT)); then
    shift $separator words
    ((CURRENT -= separator))
    _normal
    return
  fi
)sh";

// --- fish

std::string fish_option(const CompletedCommand& command, const CompletedOption& option) {
  std::string line = fmt::format("complete -c hawktrace -n '__hawktrace_in \"{}\"'", command.word);
  for (const std::string& name : option.names) {
    line += name.starts_with("--") ? fmt::format(" -l {}", name.substr(2)) : fmt::format(" -s {}", name.substr(1));
  }
  switch (option.value) {
    case CompletedValue::kChoice:
      line += fmt::format(" -a '{}'", fmt::join(option.choices, " "));
      break;
    case CompletedValue::kFile:
      line += " -F";
      break;
    case CompletedValue::kDirectory:
      line += " -a '(__fish_complete_directories)'";
      break;
    case CompletedValue::kPid:
      line += " -a '(__fish_complete_pids)'";
      break;
    case CompletedValue::kUnit:
      line += " -a '(systemctl list-units --type=service --plain --no-legend 2>/dev/null | string split -f 1 \" \")'";
      break;
    case CompletedValue::kUser:
      line += " -a '(__fish_complete_users)'";
      break;
    case CompletedValue::kNone:
      break;
  }
  // -F: files as well; -x: nothing but what was said.
  if (option.takes == Value::kRequired) line += option.value == CompletedValue::kFile ? " -r" : " -x";
  return line + fmt::format(" -d '{}'\n", option.help);
}

constexpr const char* kFishFunctions = R"sh(
# Whether the command line is one of this command, before any --.
function __hawktrace_in
  set -l tokens (commandline -opc)
  contains -- -- $tokens; and return 1
  set -l command ''
  if set -q tokens[2]; and contains -- $tokens[2] $__hawktrace_commands
    set command $tokens[2]
  end
  test "$argv[1]" = "$command"
end

function __hawktrace_is_first
  test (count (commandline -opc)) = 1
end

function __hawktrace_starts_command
  contains -- -- (commandline -opc)
end

function __hawktrace_command_line
  complete -C (commandline -cp | string replace -r '^.*? -- +' '')
end

complete -c hawktrace -f
complete -c hawktrace -n __hawktrace_starts_command -a '(__hawktrace_command_line)'
)sh";

}  // namespace

std::string bash_completions(std::span<const CompletedCommand> commands) {
  std::string script = kBashHead;
  script += fmt::format("  local options all='{}'\n", words_of(commands, " "));
  script += fmt::format("  case ${{COMP_WORDS[1]}} in {}) ((COMP_CWORD > 1)) && command=${{COMP_WORDS[1]}} ;; esac\n",
                        words_of(commands, "|"));
  script += "  case $command in\n";
  for (const CompletedCommand& command : commands) {
    script += fmt::format("    '{}') options='{}'{} ;;\n", command.word, bash_options(command),
                          command.takes_files ? " files=yes" : "");
  }
  script += "  esac\n  case $command,$prev in\n";
  for (const CompletedCommand& command : commands) {
    for (const CompletedOption& option : command.options) {
      if (option.takes != Value::kNone) script += bash_value(command, option);
    }
  }
  return script + "  esac" + kBashTail;
}

std::string zsh_completions(std::span<const CompletedCommand> commands) {
  std::string script = kZshHead;
  script += "  named=(\n";
  for (const CompletedCommand& command : commands) {
    if (!command.word.empty()) script += fmt::format("    '{}:{}'\n", command.word, zsh_text(command.title));
  }
  script += "  )\n  case ${words[2]} in\n";
  for (auto command = commands.rbegin(); command != commands.rend(); ++command) {
    // The one without a name is the last: it is what remains.
    script +=
        command->word.empty()
            ? std::string("    *)\n      ((CURRENT == 2)) && _describe command named\n      _arguments -s -S")
            : fmt::format("    {})\n      shift words\n      ((CURRENT -= 1))\n      _arguments -s -S", command->word);
    for (const CompletedOption& option : command->options) script += " \\\n        " + zsh_option(option);
    if (command->takes_files) script += " \\\n        '*:file:_files'";
    script += "\n      ;;\n";
  }
  return script + "  esac\n}\n\n_hawktrace \"$@\"\n";
}

std::string fish_completions(std::span<const CompletedCommand> commands) {
  std::string script = "# Completions of hawktrace for fish: made from its options.\n";
  script += fmt::format("set -g __hawktrace_commands {}\n{}", words_of(commands, " "), kFishFunctions);
  for (const CompletedCommand& command : commands) {
    if (!command.word.empty()) {
      script +=
          fmt::format("complete -c hawktrace -n __hawktrace_is_first -a {} -d '{}'\n", command.word, command.title);
    }
    if (command.takes_files) {
      script += fmt::format("complete -c hawktrace -n '__hawktrace_in \"{}\"' -F\n", command.word);
    }
    for (const CompletedOption& option : command.options) script += fish_option(command, option);
  }
  return script;
}

}  // namespace hawk
