// The daemon: what it records of its targets, whatever becomes of them, and what it leaves behind.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/kernel/harness/compare.h"
#include "tests/kernel/harness/ledger.h"
#include "tests/kernel/harness/recorder.h"
#include "tests/kernel/harness/report.h"
#include "tests/service/daemon_process.h"
#include "tests/service/recorded.h"
#include "tests/support/scratch_directory.h"

namespace hawk {
namespace {

TEST(daemon, records_a_process_that_is_killed) {
  std::optional<LedgerProgram> program;
  DaemonProcess daemon(target_of("web", ledger_path("ends")));
  program.emplace(LedgerProgram::Setup{.program = "ends", .arguments = {"wait"}});
  daemon.wait_for_processes(1, 1);
  const Ledger ledger = program->run();
  program->send_signal(SIGKILL);
  EXPECT_EQ(program->wait(), 128 + SIGKILL);
  daemon.wait_for_processes(0, 0);
  daemon.finish();
  expect_recorded(daemon.recording("web"), program->pid(), ledger);
  const std::string said = daemon.process().errors();
  EXPECT_NE(said.find("web: process " + std::to_string(program->pid()) + " (ends) was killed by SIGKILL; "),
            std::string::npos)
      << said;
  EXPECT_NE(said.find("recorded in " + daemon.recording("web")), std::string::npos) << said;
  EXPECT_NE(said.find(" blocks: main < "), std::string::npos) << said;
}

TEST(daemon, records_fifty_workers_and_leaves_nothing_behind) {
  constexpr std::size_t kWorkers = 50;
  std::vector<std::unique_ptr<LedgerProgram>> workers;
  const auto start = [] {
    return std::make_unique<LedgerProgram>(LedgerProgram::Setup{.program = "ends", .arguments = {"wait"}});
  };
  DaemonProcess daemon(target_of("web", ledger_path("ends")));
  // What is loaded for the first process stays.
  workers.push_back(start());
  daemon.wait_for_processes(1, 1);
  std::vector<Ledger> ledgers = {workers.front()->run()};
  workers.front()->close_input();
  workers.front()->wait();
  daemon.wait_for_processes(0, 0);
  const auto before = daemon.kernel_objects_at_rest();
  for (std::size_t i = 0; i < kWorkers; ++i) workers.push_back(start());
  daemon.wait_for_processes(kWorkers, kWorkers);
  for (std::size_t i = 1; i <= kWorkers; ++i) ledgers.push_back(workers[i]->run());
  for (std::size_t i = 1; i <= kWorkers; ++i) {
    workers[i]->close_input();
    workers[i]->wait();
  }
  daemon.wait_for_processes(0, 0);
  EXPECT_EQ(daemon.kernel_objects_at_rest(), before);
  daemon.finish();
  const std::string recording = daemon.recording("web");
  for (std::size_t i = 0; i <= kWorkers; ++i) expect_recorded(recording, workers[i]->pid(), ledgers[i]);
}

TEST(daemon, keeps_up_with_a_service_that_restarts_all_the_time) {
  std::vector<std::pair<pid_t, Ledger>> ends;
  DaemonProcess daemon(target_of("web", ledger_path("ends")));
  std::optional<std::map<std::string, std::size_t>> before;
  for (int i = 0; i < 8; ++i) {
    ChildProcess service({.argv = {ledger_path("ends"), "signal", std::to_string(SIGSEGV)}});
    EXPECT_EQ(service.read_line(), "ready");
    daemon.wait_for_processes(1, 1);
    service.send_byte();
    ends.emplace_back(service.pid(), read_ledger(service));
    EXPECT_EQ(service.wait(), 128 + SIGSEGV);
    daemon.wait_for_processes(0, 0);
    if (!before) before = daemon.kernel_objects_at_rest();
  }
  EXPECT_EQ(daemon.kernel_objects_at_rest(), before);
  daemon.finish();
  for (const auto& [pid, ledger] : ends) expect_recorded(daemon.recording("web"), pid, ledger);
  const std::string said = daemon.process().errors();
  EXPECT_NE(said.find("was killed by SIGSEGV"), std::string::npos) << said;
}

/// What the program before has done is not taken back.
TEST(daemon, counts_on_when_a_process_runs_another_program) {
  DaemonProcess daemon(target_of("web", ledger_path("runs_another")));
  ChildProcess service({.argv = {ledger_path("runs_another")}});
  EXPECT_EQ(service.read_line(), "ready");
  daemon.wait_for_processes(1, 1);
  service.send_byte();
  EXPECT_EQ(service.read_line(), "freed");
  daemon.wait_for_metric("hawktrace_freed_bytes_total{target=\"web\"}", 100'000);
  const std::uint64_t calls = daemon.metric("hawktrace_calls_total{target=\"web\"}");
  service.send_byte();
  EXPECT_EQ(service.read_line(), "done");
  daemon.wait_for_metric("hawktrace_allocated_bytes_total{target=\"web\"}", 300'000);
  EXPECT_EQ(daemon.metric("hawktrace_freed_bytes_total{target=\"web\"}"), 100'000U);
  EXPECT_GE(daemon.metric("hawktrace_calls_total{target=\"web\"}"), calls + 2000);
  service.close_input();
  EXPECT_EQ(service.wait(), 0);
  daemon.wait_for_processes(0, 0);
  daemon.finish();
}

TEST(daemon, keeps_traces_when_its_configuration_is_read_again) {
  std::optional<LedgerProgram> program;
  DaemonProcess daemon(target_of("web", ledger_path("ends")));
  program.emplace(LedgerProgram::Setup{.program = "ends", .arguments = {"wait"}});
  daemon.wait_for_processes(1, 1);
  daemon.reload(target_of("web", ledger_path("ends"), "record-every = \"2m\"") +
                target_of("other", "/nothing/has/this/path"));
  const Ledger ledger = program->run();
  // A mistake changes nothing.
  daemon.reload("[target.web]\nexee = \"x\"\n");
  program->close_input();
  program->wait();
  daemon.wait_for_processes(0, 0);
  daemon.finish();
  expect_recorded(daemon.recording("web"), program->pid(), ledger);
  const std::string said = daemon.process().errors();
  EXPECT_NE(said.find("exee: there is no such key in [target.web]"), std::string::npos) << said;
  EXPECT_NE(said.find("the configuration stays as it was"), std::string::npos) << said;
}

TEST(daemon, gives_up_a_trace_that_costs_too_much_and_comes_back) {
  std::optional<LedgerProgram> busy;
  busy.emplace(LedgerProgram::Setup{.program = "churn"});
  DaemonProcess daemon(target_of("busy", ledger_path("churn"), "max-overhead = 0.1\noverhead-retry = \"1s\""));
  daemon.wait_for_processes(1, 1);
  daemon.wait_for_processes(0, 1);
  daemon.wait_for_processes(1, 1);
  daemon.finish();
  const std::string said = daemon.process().errors();
  EXPECT_NE(said.find("busy: its trace is given up: it costs "), std::string::npos) << said;
  EXPECT_NE(said.find(" % of a processor, and max-overhead of the target is 0.1"), std::string::npos) << said;
}

TEST(daemon, traces_a_watched_process_when_it_uses_much) {
  std::optional<LedgerProgram> program;
  DaemonProcess daemon(target_of("web", ledger_path("growing"),
                                 "mode = \"watch\"\nwatch-every = \"100ms\"\nwatch-high-water = \"50M\"\n"
                                 "watch-window = \"3s\""));
  program.emplace(LedgerProgram::Setup{.program = "growing", .arguments = {"60"}});
  daemon.wait_for_processes(1, 1);
  const Ledger ledger = program->run();
  daemon.wait_for_processes(0, 1);  // the window is over
  daemon.finish();
  const std::string said = daemon.process().errors();
  EXPECT_NE(said.find(" are used, more than watch-high-water, 50.00 MiB; it is traced for 3.0 s"), std::string::npos)
      << said;
  const ScratchDirectory directory;
  const std::string path = directory.path("report");
  std::ofstream(path) << report_of(daemon.recording("web"), {"--format", "json", "--top", "0"});
  Report report = read_report(path);
  report.verified = true;
  expect_equal(report, ledger);
}

/// As long as nothing calls for a trace nothing is loaded, but for the program that notes whom the kernel kills.
TEST(daemon, has_no_probes_while_it_watches) {
  LedgerProgram program({.program = "growing", .arguments = {"1"}});
  DaemonProcess daemon(target_of("web", ledger_path("growing"), "mode = \"watch\"\nwatch-every = \"100ms\""));
  daemon.wait_for_processes(0, 1);
  for (const auto& [object, count] : daemon.kernel_objects()) {
    EXPECT_EQ(object.find("perf_event"), std::string::npos) << object;
    if (object.find("bpf") == std::string::npos) continue;
    EXPECT_EQ(count, object.ends_with("map") ? 2U : 1U) << object;
  }
  daemon.finish();
  program.run();
}

/// A file system of a few pages, for the time of a test.
class TinyDisk {
 public:
  TinyDisk() {
    if (::mount("tmpfs", path().c_str(), "tmpfs", 0, "size=16k,mode=700") != 0)
      throw std::runtime_error("mount a tmpfs");
  }
  TinyDisk(const TinyDisk&) = delete;
  TinyDisk& operator=(const TinyDisk&) = delete;
  ~TinyDisk() { ::umount2(path().c_str(), MNT_DETACH); }
  const std::string& path() const { return directory_.path(); }

 private:
  ScratchDirectory directory_;
};

TEST(daemon, goes_on_when_the_disk_is_full) {
  const TinyDisk disk;
  std::optional<LedgerProgram> program;
  DaemonProcess daemon(target_of("web", ledger_path("ends"), "record-every = \"100ms\""), disk.path());
  std::ofstream filler(disk.path() + "/filler");
  filler << std::string(64 << 10, 'x') << std::flush;
  program.emplace(LedgerProgram::Setup{.program = "ends", .arguments = {"wait"}});
  daemon.wait_for_processes(1, 1);
  const Ledger ledger = program->run();
  std::filesystem::remove(disk.path() + "/filler");
  filler.close();
  program->close_input();
  program->wait();
  daemon.wait_for_processes(0, 0);
  daemon.finish();
  const std::string said = daemon.process().errors();
  const std::size_t told = said.find("web: not recorded: ");
  ASSERT_NE(told, std::string::npos) << said;
  EXPECT_NE(said.find("No space left on device; the trace goes on"), std::string::npos) << said;
  // What could be written at last has all that was missed.
  expect_recorded(daemon.recordings("web").back(), program->pid(), ledger);
}

TEST(daemon, says_once_what_it_cannot_trace) {
  ChildProcess untraceable({.argv = {ledger_path("no_allocator_64")}});
  DaemonProcess daemon(target_of("odd", ledger_path("no_allocator_64")) + target_of("web", ledger_path("ends")));
  LedgerProgram program({.program = "ends", .arguments = {"wait"}});
  daemon.wait_for_processes(1, 2);
  program.run();
  program.close_input();
  program.wait();
  daemon.wait_for_processes(0, 1);
  daemon.finish();
  const std::string said = daemon.process().errors();
  const std::size_t told = said.find("is left out: find the allocator of process");
  EXPECT_EQ(told, said.rfind("is left out: find the allocator of process")) << said;
}

/// A program whose name has line ends and the control sequences of terminals, which crashes.
TEST(daemon, puts_nothing_of_a_hostile_name_into_messages_or_paths) {
  const ScratchDirectory directory;
  const std::string executable = directory.path("a\nweb: fo\x1b[2Jge");
  std::filesystem::copy_file(ledger_path("ends"), executable);
  DaemonProcess daemon("[target.web]\nexe = \"" + directory.path() + "/*\"\n");
  ChildProcess program({.argv = {executable, "signal", std::to_string(SIGSEGV)}});
  EXPECT_EQ(program.read_line(), "ready");
  daemon.wait_for_processes(1, 1);
  program.send_byte();
  read_ledger(program);
  program.wait();
  daemon.wait_for_processes(0, 0);
  daemon.finish();
  const std::string said = daemon.process().errors();
  EXPECT_NE(said.find("was killed by SIGSEGV"), std::string::npos) << said;
  EXPECT_EQ(said.find('\x1b'), std::string::npos);
  std::istringstream lines(said);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_TRUE(line.starts_with("hawktrace: ")) << line;
    EXPECT_EQ(line.find(": web: fo"), std::string::npos) << line;
  }
  EXPECT_EQ(daemon.recordings("web").size(), 1U);
}

}  // namespace
}  // namespace hawk
