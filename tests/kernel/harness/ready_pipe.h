#pragma once

namespace hawk {

/// How hawktrace tells that it counts: `--ready-fd`.
class ReadyPipe {
 public:
  ReadyPipe();
  ~ReadyPipe();
  ReadyPipe(const ReadyPipe&) = delete;
  ReadyPipe& operator=(const ReadyPipe&) = delete;

  /// For the process that tells, which inherits it under its number.
  int write_end() const { return write_end_; }
  /// Gives up our copy of that end, and waits until it tells (true), or has ended without (false). Throws after
  /// kPatienceMs.
  bool wait();

 private:
  int read_end_ = -1;
  int write_end_ = -1;
};

}  // namespace hawk
