// One set of probes for all processes that map a file: targets have the numbers that they would have alone, and
// processes that are not traced are as if there were none.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/kernel/harness/churn.h"
#include "tests/kernel/harness/compare.h"
#include "tests/kernel/harness/kernel_test.h"
#include "tests/kernel/harness/ledger.h"
#include "tests/kernel/harness/ready_pipe.h"
#include "tests/kernel/harness/report.h"
#include "tests/kernel/harness/target_report.h"
#include "tests/support/scratch_directory.h"
#include "userspace/process/mappings.h"

namespace hawk {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;
using Programs = std::vector<std::unique_ptr<LedgerProgram>>;

/// Perf events and multi links would give return probes to processes that are not traced.
constexpr Way kFileWays[] = {Way::kPointsArena, Way::kSessionArena, Way::kSessionHash};
constexpr Way kOneWay[] = {Way::kSessionArena};

/// A hawktrace with one set of probes for a file; every probe is in place.
class Tracing {
 public:
  Tracing(Way way, const Words& targets, const std::string& links = "file") : process_(setup(way, targets, links)) {
    EXPECT_TRUE(ready_.wait()) << process_.errors();
  }

  /// The descriptors of its links.
  std::size_t link_count() const {
    std::size_t count = 0;
    const std::string directory = "/proc/" + std::to_string(process_.pid()) + "/fdinfo";
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
      std::ifstream file(entry.path());
      for (std::string name; file >> name;) count += name == "link_id:" ? 1 : 0;
    }
    return count;
  }
  /// Waits until the process, which began later, is traced.
  void wait_for(pid_t pid) {
    const std::string line = "tracing process " + std::to_string(pid) + ",";
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(kPatienceMs);
    while (process_.errors().find(line) == std::string::npos) {
      ASSERT_LT(std::chrono::steady_clock::now(), end) << line;
      ::poll(nullptr, 0, 1);
    }
  }
  pid_t pid() const { return process_.pid(); }
  void kill() {
    process_.send_signal(SIGKILL);
    EXPECT_EQ(process_.wait(), 128 + SIGKILL);
  }
  void finish() {
    process_.send_signal(SIGINT);
    EXPECT_EQ(process_.wait(), 0) << process_.errors();
    const json all = json::parse(std::ifstream(directory_.path("reports")));
    attachment_ = all.at("trace").at("attach_via");
    if (!all.at("target").is_null()) return parts_.push_back(all);
    for (std::size_t place = 0; place < all.at("targets").size(); ++place)
      parts_.push_back(report_of_target(all, place));
  }
  /// Expects that the report has this process once, with the numbers of the ledger.
  void expect(pid_t pid, const Ledger& ledger) const {
    std::size_t found = 0;
    for (const json& part : parts_) {
      if (part.at("target").at("pid") != pid) continue;
      std::ofstream(directory_.path("one")) << part;
      expect_equal(read_report(directory_.path("one")), ledger);
      ++found;
    }
    EXPECT_EQ(found, 1U) << pid;
  }
  void expect_processes(std::size_t count) const { EXPECT_EQ(parts_.size(), count); }
  const std::string& attachment() const { return attachment_; }

 private:
  ChildProcess::Setup setup(Way way, const Words& targets, const std::string& links) {
    Words words = hawktrace_command(way, directory_.path("reports"));
    words.insert(words.end(), {"--interval", "100ms", "--ready-fd", std::to_string(ready_.write_end())});
    if (!links.empty()) words.insert(words.end(), {"--links", links});
    words.insert(words.end(), targets.begin(), targets.end());
    return {.argv = words, .inherited = {ready_.write_end()}};
  }

  ScratchDirectory directory_;
  ReadyPipe ready_;
  ChildProcess process_;
  std::vector<json> parts_;
  std::string attachment_;
};

Programs start(std::size_t count, const std::string& program) {
  Programs programs;
  for (std::size_t i = 0; i < count; ++i)
    programs.push_back(std::make_unique<LedgerProgram>(LedgerProgram::Setup{.program = program}));
  return programs;
}

Words choice_of(const Programs& programs) {
  std::string pids;
  for (const auto& program : programs) pids += (pids.empty() ? "" : " ") + std::to_string(program->pid());
  return {"-p", pids};
}

/// All of them at the same time, with as many strangers between them, whom LedgerProgram expects to be unharmed.
void expect_ledgers(Way way, std::size_t count, const std::string& links) {
  const Programs targets = start(count, "every_function"), strangers = start(count, "every_function");
  Tracing tracing(way, choice_of(targets), links);
  for (std::size_t i = 0; i < count; ++i) {
    strangers[i]->send_byte();
    targets[i]->send_byte();
  }
  std::vector<Ledger> ledgers;
  for (const auto& target : targets) ledgers.push_back(read_ledger(*target));
  for (const auto& stranger : strangers) read_ledger(*stranger);
  tracing.finish();
  tracing.expect_processes(count);
  for (std::size_t i = 0; i < count; ++i) tracing.expect(targets[i]->pid(), ledgers[i]);
}

KERNEL_TEST_ON(file_links, of_one, kFileWays) { expect_ledgers(way, 1, "file"); }
KERNEL_TEST_ON(file_links, of_twelve, kFileWays) { expect_ledgers(way, 12, "file"); }
KERNEL_TEST_ON(file_links, of_a_hundred, kOneWay) { expect_ledgers(way, 100, ""); }

/// However many use them. They are gone with the last target of the file.
KERNEL_TEST_ON(file_links, are_made_once, kFileWays) {
  const Programs few = start(1, "every_function"), more = start(3, "every_function");
  Tracing one(way, choice_of(few)), three(way, choice_of(more));
  EXPECT_EQ(one.link_count(), three.link_count());
  const Ledger of_one = few.front()->run();
  std::vector<Ledger> of_three;
  for (const auto& program : more) of_three.push_back(program->run());
  one.finish();
  three.finish();
  one.expect(few.front()->pid(), of_one);
  for (std::size_t i = 0; i < more.size(); ++i) three.expect(more[i]->pid(), of_three[i]);
  EXPECT_TRUE(three.attachment().ends_with(" for files")) << three.attachment();
}

/// Targets that begin and end while a stranger calls without end. (The run that each is compared with may be traced,
/// too.)
KERNEL_TEST_ON(file_links, of_those_that_come_and_go, kFileWays) {
  const ScratchDirectory directory;
  std::filesystem::copy_file(ledger_path("every_function"), directory.path("program"));
  LedgerProgram loaded({.program = "churn", .arguments = {"2"}});
  LedgerProgram first({.program = directory.path("program")});
  auto ending = std::make_unique<LedgerProgram>(LedgerProgram::Setup{.program = directory.path("program")});
  Tracing tracing(way, {"--exe", directory.path("program")});
  first.send_byte();
  const Ledger of_ending = ending->run();
  const pid_t ended = ending->pid();
  ending.reset();
  LedgerProgram later({.program = directory.path("program")});
  tracing.wait_for(later.pid());
  const Ledger of_later = later.run(), of_first = read_ledger(first);
  expect_unharmed(loaded);
  tracing.finish();
  tracing.expect(first.pid(), of_first);
  tracing.expect(ended, of_ending);
  tracing.expect(later.pid(), of_later);
}

/// The link of a file closes with its last target, and another target has a new one.
KERNEL_TEST_ON(file_links, end_with_their_last_target, kFileWays) {
  LedgerProgram staying({.program = "every_function"});
  auto ending = std::make_unique<LedgerProgram>(LedgerProgram::Setup{.program = "functions_linked_statically"});
  Tracing tracing(way, {"-p", std::to_string(staying.pid()) + " " + std::to_string(ending->pid())});
  const std::size_t before = tracing.link_count();
  const Ledger of_ending = ending->run();
  const pid_t ended = ending->pid();
  ending.reset();
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(kPatienceMs);
  while (tracing.link_count() >= before) {
    ASSERT_LT(std::chrono::steady_clock::now(), end);
    ::poll(nullptr, 0, 1);
  }
  const Ledger of_staying = staying.run();
  tracing.finish();
  tracing.expect(staying.pid(), of_staying);
  tracing.expect(ended, of_ending);
}

/// A process whose main thread has exited has no other links that the kernel could keep to it.
KERNEL_TEST_ON(file_links, of_one_without_its_main_thread, kFileWays) {
  LedgerProgram whole({.program = "every_function"});
  LedgerProgram without({.program = "main_thread_exits"});
  Tracing tracing(way, {"-p", std::to_string(whole.pid()) + " " + std::to_string(without.pid())});
  const Ledger of_without = without.run(), of_whole = whole.run();
  tracing.finish();
  tracing.expect(whole.pid(), of_whole);
  tracing.expect(without.pid(), of_without);
}

/// Programs that a target replaces itself with.
KERNEL_TEST_ON(file_links, hold_for_the_next_program, kFileWays) {
  LedgerProgram target({.program = "execs"});
  Trace trace = Trace::attach(target.pid(), way, {"--links", "file"});
  const Ledger ledger = target.run();
  const Report report = trace.finish();
  expect_equal_but_flagged(report, ledger);
  EXPECT_EQ(report.exec_count, 1U);
}

/// Whether malloc is, in this process, which maps the file and is not traced.
bool is_probed_here() {
  const void* const malloc_here = ::dlsym(RTLD_DEFAULT, "malloc");
  Dl_info file = {};
  if (::dladdr(malloc_here, &file) == 0) throw std::runtime_error("dladdr");
  char mapped[1024] = {}, stored[sizeof(mapped)] = {};
  std::memcpy(mapped, malloc_here, sizeof(mapped));
  std::ifstream content(file.dli_fname, std::ios::binary);
  content.seekg(static_cast<const char*>(malloc_here) - static_cast<const char*>(file.dli_fbase));
  content.read(stored, sizeof(stored));
  return std::memcmp(mapped, stored, sizeof(mapped)) != 0;
}

void expect_probed_here(bool is_probed) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(kPatienceMs);
  while (is_probed_here() != is_probed) {
    ASSERT_LT(std::chrono::steady_clock::now(), end);
    ::poll(nullptr, 0, 1);
  }
}

/// The kernel takes the probes out of every process when the last descriptor of a link is closed, by any process.
KERNEL_TEST_ON(file_links, of_a_killed_hawktrace_are_gone, kFileWays) {
  LedgerProgram target({.program = "every_function"});
  Tracing tracing(way, {"-p", std::to_string(target.pid())});
  expect_probed_here(true);
  tracing.kill();
  expect_probed_here(false);
  target.run();
}

/// Whether the process executes code of libc's file.
bool runs_libc(pid_t pid) {
  const Result<std::vector<Mapping>> mappings = read_mappings(pid);
  return std::any_of(mappings->begin(), mappings->end(), [](const Mapping& mapping) {
    return mapping.executable && std::filesystem::path(mapping.path).filename() == "libc.so.6";
  });
}

/// hawktrace maps the same files, and would run into its own probes a million times while it reads a large library.
KERNEL_TEST_ON(file_links, leave_hawktrace_itself_alone, kOneWay) {
  const Programs programs = start(1, "churn");
  Tracing tracing(way, choice_of(programs));
  ASSERT_TRUE(runs_libc(programs.front()->pid()));
  EXPECT_FALSE(runs_libc(tracing.pid()));
  const std::vector<pid_t> workers = children_of(tracing.pid());
  EXPECT_FALSE(workers.empty());
  for (const pid_t worker : workers) EXPECT_FALSE(runs_libc(worker));
  tracing.finish();
}

/// Links for a process do not reach it: to move its code would take time for nothing.
KERNEL_TEST_ON(file_links, are_why_hawktrace_moves_its_code, kOneWay) {
  const Programs programs = start(1, "churn");
  Tracing tracing(way, choice_of(programs), "process");
  EXPECT_TRUE(runs_libc(tracing.pid()));
  tracing.finish();
}

}  // namespace
}  // namespace hawk
