#include "tests/kernel/harness/recorder.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "tests/kernel/harness/ledger.h"

namespace hawk {

Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::string output_of(const Words& words) {
  ChildProcess process({.argv = words});
  std::string output = process.read_to_end();
  EXPECT_EQ(process.wait(), 0) << process.errors();
  return output;
}

std::string report_of(const std::string& recording, const Words& options, int status) {
  ChildProcess hawktrace({.argv = Words{HAWKTRACE_PATH, "report", recording} + options});
  std::string report = hawktrace.read_to_end();
  EXPECT_EQ(hawktrace.wait(), status) << hawktrace.errors();
  return report;
}

Recorder::Recorder(pid_t pid, const std::string& recording, const Words& options)
    : process_({.argv = Words{HAWKTRACE_PATH, "record", "-p", std::to_string(pid), "-o", recording, "--interval",
                              "100ms", "--ready-fd", std::to_string(ready_.write_end())} +
                        options,
                .inherited = {ready_.write_end()}}) {
  EXPECT_TRUE(ready_.wait()) << process_.errors();
}

void Recorder::finish() {
  process_.send_signal(SIGINT);
  EXPECT_EQ(process_.wait(), 0) << process_.errors();
}

void record_ledger(const std::string& program_name, const std::string& recording, const Words& options) {
  LedgerProgram program({.program = program_name});
  Recorder recorder(program.pid(), recording, options);
  program.run();
  recorder.finish();
}

}  // namespace hawk
