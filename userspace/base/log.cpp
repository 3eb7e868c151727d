#include "userspace/base/log.h"

#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>

#include "userspace/base/printable.h"

namespace hawk {
namespace {

constexpr int kPatienceMs = 1000;

Verbosity current = Verbosity::kNormal;
/// stderr has not been read for kPatienceMs: no message waits again until it takes one.
std::atomic<bool> stalled = false;

/// Whether stderr takes PIPE_BUF bytes now, or soon. A reader that sleeps, or a terminal that was stopped (Ctrl-S),
/// must not hold up the trace.
bool is_writable() {
  pollfd writable = {.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
  int ready = 0;
  do {
    ready = ::poll(&writable, 1, stalled ? 0 : kPatienceMs);
  } while (ready < 0 && errno == EINTR);
  stalled = ready == 0;
  return !stalled;
}

/// Gives up at the first error: there is nowhere to report it.
void send(std::string_view bytes) {
  while (!bytes.empty() && is_writable()) {
    const ssize_t written = ::write(STDERR_FILENO, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR && errno != EAGAIN) return;
    if (written > 0) bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

/// A line on its way to stderr. Allocates no memory, because the message may be that memory is exhausted; and no piece
/// of it is longer than a pipe accepts atomically.
class Line {
 public:
  explicit Line(std::string_view ours) { put(ours); }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;
  ~Line() {
    put("\n");
    send({bytes_.data(), used_});
  }

  /// What others may have written.
  void put_printable(std::string_view text) {
    while (!text.empty()) {
      const Character character = first_character(text);
      put(printable_form(character, text.substr(0, character.length)));
      text.remove_prefix(character.length);
    }
  }

 private:
  void put(std::string_view piece) {
    if (piece.size() > bytes_.size() - used_) {
      send({bytes_.data(), used_});
      used_ = 0;
    }
    std::memcpy(bytes_.data() + used_, piece.data(), piece.size());
    used_ += piece.size();
  }

  std::array<char, PIPE_BUF> bytes_;
  std::size_t used_ = 0;
};

void write_line(std::string_view ours, std::string_view text) noexcept { Line(ours).put_printable(text); }

}  // namespace

void set_verbosity(Verbosity verbosity) { current = verbosity; }
Verbosity verbosity() { return current; }

void log_error(const Error& error) noexcept {
  log_error(error.what, "");
  for (const std::string& detail : error.details) write_line("", detail);
  if (!error.hint.empty()) write_line("hint: ", error.hint);
}

void log_error(std::string_view what, std::string_view hint) noexcept {
  write_line("hawktrace: error: ", what);
  if (!hint.empty()) write_line("hint: ", hint);
}

void log_warning(std::string_view message) noexcept { write_line("hawktrace: warning: ", message); }

void log_info(std::string_view message) noexcept {
  if (current != Verbosity::kQuiet) write_line("hawktrace: ", message);
}

void log_verbose(std::string_view message) noexcept {
  if (current == Verbosity::kVerbose) write_line("hawktrace: ", message);
}

}  // namespace hawk
