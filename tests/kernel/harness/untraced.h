#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/kernel/harness/child_process.h"

namespace hawk {

/// A program that is run twice: traced, by the test, and then alone, with the same done to it after the same words.
struct Twin {
  ChildProcess::Setup setup = {};  ///< of the run alone
  /// Makes anew what the traced run may have used up: files.
  std::function<void()> prepare = [] {};
  /// Of a line, what has to be the same in both runs: not addresses, process ids, times of day.
  std::function<std::string(std::string)> comparable = [](std::string line) { return line; };
  /// The same of all lines of standard output.
  std::function<void(std::vector<std::string>&)> mask = [](std::vector<std::string>&) {};
  /// The signal that ends it, in addition to the end of its input. 0: none is needed.
  int end_signal = 0;
};

/// Lets `traced` come to its end, and expects that what it said on both standard streams and how it ended are what the
/// program says and how it ends untraced. Does nothing once the test has failed: the rest would be a consequence.
void expect_same_untraced(ChildProcess& traced, const Twin& twin);

/// The same of a command that `hawktrace` has started, has given its own standard streams and has ended with.
void expect_same_untraced_command(ChildProcess& hawktrace, const Twin& twin);

/// Takes out of what a ledger said what no two runs share: where its stacks are and in which order
/// they were met, and the numbers of what it says that it "varies".
void mask_ledger(std::vector<std::string>& lines);

}  // namespace hawk
