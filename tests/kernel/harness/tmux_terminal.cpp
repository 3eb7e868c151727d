#include "tests/kernel/harness/tmux_terminal.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>

namespace hawk {
namespace {

/// For a shell, and for tmux's parser, whose rules for single quotes are the same.
std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char character : word) text += character == '\'' ? std::string("'\\''") : std::string(1, character);
  return text + "'";
}

std::string shell_line(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + quoted(word);
  return line;
}

/// A server of its own for each terminal.
std::string new_socket_name() {
  static int count = 0;
  return fmt::format("hawktrace-test-{}-{}", ::getpid(), ++count);
}

}  // namespace

TmuxTerminal::TmuxTerminal(const std::vector<std::string>& command, std::size_t columns, std::size_t rows,
                           const std::string& locale)
    : socket_(new_socket_name()) {
  // cat keeps the terminal: tmux drops what a program that ends has written last.
  const std::string line = fmt::format("LC_ALL={} {}; exec cat", locale, shell_line(command));
  ChildProcess::Setup setup;
  setup.argv = {"tmux",
                "-L",
                socket_,
                "-f",
                "/dev/null",
                "-C",
                "set",
                "-g",
                "remain-on-exit",
                "on",
                ";",
                "new-session",
                "-x",
                std::to_string(columns),
                "-y",
                std::to_string(rows),
                line};
  setup.environment = {{"LC_ALL", "C.UTF-8"}, {"TERM", "xterm-256color"}};
  tmux_ = std::make_unique<ChildProcess>(setup);
  // Until then there is "no current client".
  while (!tmux_->read_line().starts_with("%session-changed ")) {
  }
  resize(columns, rows);
}

TmuxTerminal::~TmuxTerminal() {
  try {
    ChildProcess kill({.argv = {"tmux", "-L", socket_, "kill-server"}});
    kill.wait();
  } catch (const std::runtime_error&) {  // the server has ended already
  }
}

std::vector<std::string> TmuxTerminal::ask(const std::string& command) {
  tmux_->send(command + "\n");
  std::vector<std::string> answer;
  // Commands from the start-up have answers too: ours is the one that is flagged as a client's (the last number is 1).
  bool ours = false;
  for (;;) {
    const std::string line = tmux_->read_line();
    if (line.starts_with("%begin ")) {
      ours = line.ends_with(" 1");
      answer.clear();
    } else if (ours && line.starts_with("%error ")) {
      throw std::runtime_error("tmux: " + command + ": " + as_text(answer));
    } else if (ours && line.starts_with("%end ")) {
      return answer;
    } else {
      answer.push_back(line);
    }
  }
}

std::vector<std::string> TmuxTerminal::screen() { return ask("capture-pane -p"); }

std::vector<std::string> TmuxTerminal::wait_until(const std::function<bool(const std::vector<std::string>&)>& is_so) {
  for (;;) {
    std::vector<std::string> now = screen();
    if (is_so(now)) return now;
    try {
      while (!tmux_->read_line().starts_with("%output ")) {
      }
    } catch (const std::runtime_error& error) {
      throw std::runtime_error(fmt::format("{}; the screen:\n{}", error.what(), as_text(now)));
    }
  }
}

std::vector<std::string> TmuxTerminal::wait_for(std::string_view part) {
  return wait_until([part](const std::vector<std::string>& screen) { return shows(screen, part); });
}

std::vector<std::string> TmuxTerminal::wait_for_all(const std::vector<std::string>& parts) {
  return wait_until([&](const std::vector<std::string>& screen) {
    return std::all_of(parts.begin(), parts.end(), [&](const std::string& part) { return shows(screen, part); });
  });
}

void TmuxTerminal::press(const std::string& key) { ask("send-keys " + key); }

void TmuxTerminal::type(const std::string& text) { ask("send-keys -l " + quoted(text)); }

void TmuxTerminal::resize(std::size_t columns, std::size_t rows) {
  ask(fmt::format("refresh-client -C {}x{}", columns, rows));
}

bool shows(const std::vector<std::string>& screen, std::string_view part) {
  return std::any_of(screen.begin(), screen.end(),
                     [part](const std::string& line) { return line.find(part) != std::string::npos; });
}

std::string as_text(const std::vector<std::string>& screen) { return fmt::format("{}\n", fmt::join(screen, "\n")); }

}  // namespace hawk
