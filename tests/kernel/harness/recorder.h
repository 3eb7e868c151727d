#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "tests/kernel/harness/child_process.h"
#include "tests/kernel/harness/ready_pipe.h"
#include "tests/support/file_content.h"

namespace hawk {

using Words = std::vector<std::string>;
Words operator+(Words words, const Words& more);

/// Runs a program to its end, which must be a good one; what it prints.
std::string output_of(const Words& words);

/// What `hawktrace report` prints, which must end with `status`.
std::string report_of(const std::string& recording, const Words& options, int status = 0);

/// A hawktrace that records a process, ten times a second; every probe is in place.
class Recorder {
 public:
  Recorder(pid_t pid, const std::string& recording, const Words& options = {});
  ChildProcess& process() { return process_; }
  /// Ends the trace, and waits.
  void finish();

 private:
  ReadyPipe ready_;
  ChildProcess process_;
};

/// Records a ledger program from its ledger's begin to its end.
void record_ledger(const std::string& program, const std::string& recording, const Words& options = {});

}  // namespace hawk
