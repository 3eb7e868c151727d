// One set of BPF programs for all traced processes, including those that begin or end during the trace.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/kernel/harness/compare.h"
#include "tests/kernel/harness/kernel_test.h"
#include "tests/kernel/harness/ledger.h"
#include "tests/kernel/harness/ready_pipe.h"
#include "tests/kernel/harness/report.h"
#include "tests/kernel/harness/target_report.h"
#include "tests/support/scratch_directory.h"

namespace hawk {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

/// Looks until it is so. What is looked for has no descriptor to wait on.
template <class Condition>
void wait_until(const char* what, Condition is_so) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(kPatienceMs);
  while (!is_so()) {
    ASSERT_LT(std::chrono::steady_clock::now(), end) << what;
    ::poll(nullptr, 0, 1);
  }
}

/// What a process holds of the kernel's BPF objects.
struct BpfObjects {
  std::set<std::string> programs, maps, links;
};

BpfObjects objects_of(pid_t pid) {
  BpfObjects objects;
  const std::string directory = "/proc/" + std::to_string(pid) + "/fdinfo";
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    std::ifstream file(entry.path());
    for (std::string name, value; file >> name >> value;) {
      if (name == "map_id:") objects.maps.insert(value);
      if (name == "link_id:") objects.links.insert(value);
      // That of a link is its program, which it holds without a descriptor.
      if (name == "prog_id:") objects.programs.insert(value);
    }
  }
  return objects;
}

/// A hawktrace; every probe is in place.
class Tracing {
 public:
  Tracing(Way way, const Words& targets) : process_(setup(way, targets)) {
    EXPECT_TRUE(ready_.wait()) << process_.errors();
  }

  ChildProcess& process() { return process_; }
  BpfObjects objects() const { return objects_of(process_.pid()); }
  void finish() {
    process_.send_signal(SIGINT);
    EXPECT_EQ(process_.wait(), 0) << process_.errors();
  }
  /// Waits until the process, which began later, is traced, so often in all.
  void wait_for(pid_t pid, std::size_t times = 1) {
    const std::string line = "tracing process " + std::to_string(pid) + ",";
    wait_until(line.c_str(), [&] {
      const std::string errors = process_.errors();
      std::size_t found = 0;
      for (std::size_t at = errors.find(line); at != std::string::npos; at = errors.find(line, at + 1)) ++found;
      return found >= times;
    });
  }
  /// The reports of all processes that had this number, in order.
  std::vector<Report> reports_of(pid_t pid) const {
    const json all = json::parse(std::ifstream(directory_.path("reports")));
    std::vector<Report> reports;
    const std::size_t count = all.at("target").is_null() ? all.at("targets").size() : 1;
    for (std::size_t place = 0; place < count; ++place) {
      const json one = all.at("target").is_null() ? report_of_target(all, place) : all;
      if (one.at("target").at("pid") != pid) continue;
      std::ofstream(directory_.path("one")) << one;
      reports.push_back(read_report(directory_.path("one")));
    }
    return reports;
  }

 private:
  ChildProcess::Setup setup(Way way, const Words& targets) {
    Words words = hawktrace_command(way, directory_.path("reports"));
    words.insert(words.end(), {"--interval", "100ms", "--ready-fd", std::to_string(ready_.write_end())});
    words.insert(words.end(), targets.begin(), targets.end());
    return {.argv = words, .inherited = {ready_.write_end()}};
  }

  ScratchDirectory directory_;
  ReadyPipe ready_;
  ChildProcess process_;
};

/// A copy of a program, so that processes can be chosen by it that no other test has.
class OwnCopy {
 public:
  explicit OwnCopy(const std::string& path) { std::filesystem::copy_file(path, this->path()); }

  std::string path() const { return directory_.path("program"); }
  Words choice() const { return {"--exe", path()}; }

 private:
  ScratchDirectory directory_;
};

Words choice_of(std::initializer_list<const ChildProcess*> processes) {
  std::string pids;
  for (const ChildProcess* const process : processes)
    pids += (pids.empty() ? "" : " ") + std::to_string(process->pid());
  return {"-p", pids};
}

void expect_exact(const std::vector<Report>& reports, const std::vector<Ledger>& ledgers) {
  ASSERT_EQ(reports.size(), ledgers.size());
  for (std::size_t i = 0; i < reports.size(); ++i) expect_equal(reports[i], ledgers[i]);
}

KERNEL_TEST(one_engine, is_loaded_once) {
  LedgerProgram first({.program = "every_function"});
  LedgerProgram same({.program = "every_function"});
  LedgerProgram other({.program = "recursion"});
  BpfObjects of_one;
  {
    Tracing one(way, choice_of({&first}));
    of_one = one.objects();
    one.finish();
  }
  Tracing three(way, choice_of({&first, &same, &other}));
  const BpfObjects of_three = three.objects();
  EXPECT_EQ(of_three.programs.size(), of_one.programs.size());
  EXPECT_EQ(of_three.maps.size(), of_one.maps.size());
  EXPECT_GT(of_three.links.size(), of_one.links.size()) << "each has probes of its own";
  const Ledger of_first = first.run(), of_same = same.run(), of_other = other.run();
  three.finish();
  expect_exact(three.reports_of(first.pid()), {of_first});
  expect_exact(three.reports_of(same.pid()), {of_same});
  expect_exact(three.reports_of(other.pid()), {of_other});
}

/// The kernel cannot keep the probes of a process without its main thread out of others, where they would count twice.
KERNEL_TEST(one_engine, leaves_out_a_process_without_its_main_thread) {
  LedgerProgram whole({.program = "every_function"});
  LedgerProgram without({.program = "main_thread_exits"});
  Tracing tracing(way, choice_of({&whole, &without}));
  const std::string left_out = "process " + std::to_string(without.pid()) + " is left out: trace process ";
  EXPECT_NE(tracing.process().errors().find(left_out), std::string::npos) << tracing.process().errors();
  without.run();
  const Ledger ledger = whole.run();
  tracing.finish();
  expect_exact(tracing.reports_of(whole.pid()), {ledger});
  EXPECT_TRUE(tracing.reports_of(without.pid()).empty());
}

/// The probes of one that ends are removed while the others go on, and no numbers change by it.
KERNEL_TEST(one_engine, one_that_ends_leaves_no_probes) {
  LedgerProgram staying({.program = "ends", .arguments = {"wait"}});
  LedgerProgram ending({.program = "ends", .arguments = {"wait"}});
  std::size_t links_of_one = 0;
  {
    Tracing one(way, choice_of({&staying}));
    links_of_one = one.objects().links.size();
    one.finish();
  }
  Tracing two(way, choice_of({&ending, &staying}));
  EXPECT_GT(two.objects().links.size(), links_of_one);
  const Ledger of_ending = ending.run();
  ending.send_signal(SIGKILL);
  EXPECT_EQ(ending.wait(), 128 + SIGKILL);
  wait_until("its probes are gone", [&] { return two.objects().links.size() == links_of_one; });
  const Ledger of_staying = staying.run();
  two.finish();
  expect_exact(two.reports_of(ending.pid()), {of_ending});
  expect_exact(two.reports_of(staying.pid()), {of_staying});
}

KERNEL_TEST(one_engine, picks_up_a_process_that_begins) {
  const OwnCopy copy(ledger_path("every_function"));
  LedgerProgram first({.program = copy.path()});
  Tracing tracing(way, copy.choice());
  LedgerProgram later({.program = copy.path()});
  tracing.wait_for(later.pid());
  const Ledger of_later = later.run(), of_first = first.run();
  tracing.finish();
  expect_exact(tracing.reports_of(first.pid()), {of_first});
  expect_exact(tracing.reports_of(later.pid()), {of_later});
}

/// A process that gets the number of one that has ended, and that was traced.
KERNEL_TEST(one_engine, tells_processes_with_one_number_apart) {
  const OwnCopy copy(ledger_path("every_function"));
  LedgerProgram staying({.program = copy.path()});
  auto first = std::make_unique<LedgerProgram>(LedgerProgram::Setup{.program = copy.path()});
  const pid_t pid = first->pid();
  Tracing tracing(way, copy.choice());
  const Ledger of_first = first->run();
  first.reset();
  std::unique_ptr<LedgerProgram> second;
  constexpr int kTries = 200;  // others take numbers, too
  for (int i = 0; i < kTries && (!second || second->pid() != pid); ++i) {
    second.reset();
    std::ofstream("/proc/sys/kernel/ns_last_pid") << pid - 1;
    second = std::make_unique<LedgerProgram>(LedgerProgram::Setup{.program = copy.path()});
  }
  ASSERT_EQ(second->pid(), pid);
  tracing.wait_for(pid);
  const Ledger of_second = second->run(), of_staying = staying.run();
  tracing.finish();
  expect_exact(tracing.reports_of(pid), {of_first, of_second});
  expect_exact(tracing.reports_of(staying.pid()), {of_staying});
}

/// They match, and are gone before they have been attached to, or right after.
KERNEL_TEST(one_engine, processes_that_end_at_once_are_no_errors) {
  const OwnCopy copy(ledger_path("every_function"));
  LedgerProgram staying({.program = copy.path()});
  Tracing tracing(way, copy.choice());
  constexpr int kProcesses = 60;
  for (int i = 0; i < kProcesses; ++i) {
    const pid_t pid = ::fork();
    // Without its other end of the conversation it ends at once.
    if (pid == 0) {
      ::close(STDIN_FILENO);
      ::close(STDOUT_FILENO);
      ::execl(copy.path().c_str(), "program", nullptr);
      ::_exit(127);
    }
    ASSERT_EQ(::waitpid(pid, nullptr, 0), pid);
  }
  const Ledger ledger = staying.run();
  tracing.finish();
  expect_exact(tracing.reports_of(staying.pid()), {ledger});
}

}  // namespace
}  // namespace hawk
