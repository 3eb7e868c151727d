#pragma once

namespace hawk {

/// The pipe of `--ready-fd`, by which hawktrace announces that it counts.
class ReadyPipe {
 public:
  ReadyPipe();
  ~ReadyPipe();
  ReadyPipe(const ReadyPipe&) = delete;
  ReadyPipe& operator=(const ReadyPipe&) = delete;

  /// For the announcing process, which inherits it with its number.
  int write_end() const { return write_end_; }
  /// Closes the copy of that end in this process, and waits for the announcement (true), or the end of the process
  /// without one (false). Throws after kPatienceMs.
  bool wait();

 private:
  int read_end_ = -1;
  int write_end_ = -1;
};

}  // namespace hawk
