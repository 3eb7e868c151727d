#include "userspace/screen/terminal_signals.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <utility>

#include "userspace/base/write_all.h"

namespace hawk {
namespace {

// Signals that end us, by default or by a crash. Those that SignalSource blocks never reach the handler.
constexpr std::array kDeadlySignals{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};

/// What the signal handlers need. Global because handlers have no other way to it; only one terminal can be ours.
struct Guard {
  std::atomic<bool> active = false;
  std::atomic<bool> lost = false;
  TerminalModes modes = {};
  std::array<struct sigaction, kDeadlySignals.size()> previous_actions = {};
  struct sigaction previous_stop_action = {};
};
Guard guard;

/// Gives up when the terminal does: there is nowhere to report it.
void paint(const std::string& bytes) { static_cast<void>(write_all(guard.modes.output_fd, bytes)); }

void enter_screen() {
  ::tcsetattr(guard.modes.input_fd, TCSANOW, &guard.modes.as_used);
  paint(guard.modes.enter);
}

void leave_screen() {
  paint(guard.modes.leave);
  ::tcsetattr(guard.modes.input_fd, TCSANOW, &guard.modes.as_found);
}

std::size_t deadly_index(int signal_number) {
  std::size_t index = 0;
  while (index < kDeadlySignals.size() - 1 && kDeadlySignals[index] != signal_number) ++index;
  return index;
}

/// Restores the terminal, then lets the signal do what it would have done without us.
void on_deadly_signal(int signal_number, siginfo_t* info, void*) {
  const int saved_errno = errno;
  restore_terminal();
  ::sigaction(signal_number, &guard.previous_actions[deadly_index(signal_number)], nullptr);
  // A faulting instruction runs and faults again; only its first report is to be visible.
  const bool is_fault =
      (signal_number == SIGSEGV || signal_number == SIGBUS || signal_number == SIGFPE || signal_number == SIGILL) &&
      info->si_code > 0;
  if (!is_fault) ::raise(signal_number);
  errno = saved_errno;
}

/// Ctrl-Z: the shell gets its terminal back, and we take it again when we go on.
void on_stop_signal(int) {
  const int saved_errno = errno;
  const bool was_active = guard.active;
  if (was_active) leave_screen();
  ::raise(SIGSTOP);
  if (was_active) {
    enter_screen();
    guard.lost = true;
    // The screen is empty now, and may have another size: a reason to draw it.
    ::raise(SIGWINCH);
  }
  errno = saved_errno;
}

bool was_ignored(const struct sigaction& action) { return action.sa_handler == SIG_IGN; }

}  // namespace

void guard_terminal(TerminalModes modes) {
  guard.modes = std::move(modes);
  guard.active = true;
}

void catch_terminal_signals() {
  struct sigaction deadly = {};
  deadly.sa_sigaction = on_deadly_signal;
  deadly.sa_flags = SA_SIGINFO;
  for (std::size_t i = 0; i < kDeadlySignals.size(); ++i) {
    struct sigaction& previous = guard.previous_actions[i];
    ::sigaction(kDeadlySignals[i], nullptr, &previous);
    if (!was_ignored(previous)) ::sigaction(kDeadlySignals[i], &deadly, nullptr);
  }
  struct sigaction stop = {};
  stop.sa_handler = on_stop_signal;
  stop.sa_flags = SA_RESTART;
  struct sigaction& previous = guard.previous_stop_action;
  ::sigaction(SIGTSTP, nullptr, &previous);
  if (!was_ignored(previous)) ::sigaction(SIGTSTP, &stop, nullptr);
}

void unguard_terminal() {
  for (std::size_t i = 0; i < kDeadlySignals.size(); ++i) {
    ::sigaction(kDeadlySignals[i], &guard.previous_actions[i], nullptr);
  }
  ::sigaction(SIGTSTP, &guard.previous_stop_action, nullptr);
}

bool was_screen_lost() { return guard.lost.exchange(false); }

void restore_terminal() {
  if (guard.active.exchange(false)) leave_screen();
}

}  // namespace hawk
