#pragma once

#include <sys/types.h>

#include <functional>
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
  /// What was done to it, and when: after which line of its standard output, where one was read since the last act.
  struct Act {
    enum class Kind { kByte, kEndOfInput, kSignal };
    Kind kind = Kind::kByte;
    int signal = 0;
    std::optional<std::string> after = {};
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
  /// Bytes to its standard input. Not repeated by repeat_acts_on.
  void send(std::string_view bytes);
  /// End of file for its standard input.
  void close_input();
  /// Its next line of standard output, without the newline. Throws at end of file and when none comes in kPatience.
  std::string read_line();
  /// The same, but nothing at end of file.
  std::optional<std::string> next_line();
  /// Everything it writes to standard output until it closes it.
  std::string read_to_end();
  void send_signal(int number);
  /// Waits for the end; the status as a shell shows it: the exit code, or 128 + signal. Throws after kPatience.
  int wait();
  bool has_ended() const { return status_ >= 0; }
  /// What it has written to standard error so far.
  std::string errors() const;
  /// All that has been read from its standard output.
  const std::string& output_so_far() const { return all_output_; }
  /// What was done to it, in order.
  const std::vector<Act>& acts() const { return acts_; }
  /// Does the same to `other`, each act after the line that is the same once both are made comparable.
  void repeat_acts_on(ChildProcess& other, const std::function<std::string(std::string)>& comparable) const;

 private:
  /// Appends what arrives to buffer_; false at end of file.
  bool read_more();
  void note_act(Act::Kind kind, int signal = 0);
  [[noreturn]] void fail(std::string_view what) const;

  std::string name_;
  pid_t pid_ = -1;
  int input_ = -1;
  int output_ = -1;
  int errors_ = -1;
  std::string buffer_;
  std::string all_output_;
  std::optional<std::string> line_since_act_;
  std::vector<Act> acts_;
  int status_ = -1;
};

/// Longest time that anything in these tests is waited for, in milliseconds. Nothing waits for less on purpose.
constexpr int kPatienceMs = 150'000;

/// Waits until `descriptor` can be read (or is at its end); false when that takes longer than kPatienceMs.
bool wait_readable(int descriptor);

/// The processes whose parent is `pid`.
std::vector<pid_t> children_of(pid_t pid);
/// The child of a hawktrace that is its command, and not hawktrace again, which reads files.
std::optional<pid_t> command_of(pid_t hawktrace);

}  // namespace hawk
