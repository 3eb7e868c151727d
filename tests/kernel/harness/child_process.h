#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hawk {

/// A child of the test with pipes on its standard streams, killed and reaped at the latest when this goes out of scope.
///
/// Whatever keeps the harness from working (not from passing) is thrown as std::runtime_error: gtest reports it as the
/// failure of the running test, and the destructors clean up.
class ChildProcess {
 public:
  struct Setup {
    std::vector<std::string> argv;
    std::map<std::string, std::string> environment = {};  ///< added to ours
    std::vector<int> inherited = {};                      ///< descriptors that stay open, under their numbers
    bool as_nobody = false;                               ///< without any privilege
  };

  explicit ChildProcess(const Setup& setup);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }
  /// Descriptor from which its standard output is read.
  int output() const { return output_; }
  /// One byte to its standard input.
  void send_byte();
  /// End of file for its standard input.
  void close_input();
  /// Its next line of standard output, without the newline. Throws at end of file and when none comes in kPatience.
  std::string read_line();
  /// The same, but nothing at end of file.
  std::optional<std::string> next_line();
  /// Everything it writes to standard output until it closes it.
  std::string read_to_end();
  void send_signal(int number) const;
  /// Waits for the end; the status as a shell shows it: the exit code, or 128 + signal. Throws after kPatience.
  int wait();
  /// What it has written to standard error so far.
  std::string errors() const;

 private:
  /// Appends what arrives to buffer_; false at end of file.
  bool read_more();
  [[noreturn]] void fail(std::string_view what) const;

  std::string name_;
  pid_t pid_ = -1;
  int input_ = -1;
  int output_ = -1;
  int errors_ = -1;
  std::string buffer_;
  int status_ = -1;
};

/// Longest time that anything in these tests is waited for, in milliseconds. Nothing waits for less on purpose.
constexpr int kPatienceMs = 60'000;

/// Waits until `descriptor` can be read (or is at its end); false when that takes longer than kPatienceMs.
bool wait_readable(int descriptor);

/// The processes whose parent is `pid`.
std::vector<pid_t> children_of(pid_t pid);

}  // namespace hawk
