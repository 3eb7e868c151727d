// The daemon, when processes begin, allocate and end at random for a long time.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/kernel/harness/ledger.h"
#include "tests/kernel/harness/recorder.h"
#include "tests/service/daemon_process.h"
#include "userspace/base/unix_time.h"

namespace hawk {
namespace {

/// A number of the environment, for runs by hand.
int number_of(const char* variable, int otherwise) {
  const char* const wanted = std::getenv(variable);
  return wanted != nullptr ? std::stoi(wanted) : otherwise;
}

/// What a process says of itself that has ended.
struct Ended {
  Numbers truth;
  bool was_traced = false;  ///< before it allocated; otherwise that was left to chance
};

/// By the number of their process, which comes again within half an hour.
using EndedProcesses = std::multimap<pid_t, Ended>;
using RecordedProcesses = std::multimap<pid_t, Numbers>;

class SoakedService {
 public:
  explicit SoakedService(DaemonProcess& daemon) : daemon_(daemon) {}

  std::size_t running() const { return running_.size(); }
  std::size_t begun() const { return begun_; }
  const EndedProcesses& ended() const { return ended_; }

  /// One process begins, or one of them ends.
  void step() {
    constexpr std::size_t kMost = 50;
    if (running_.empty() || (running_.size() < kMost && chance())) {
      begin();
    } else {
      end(random_() % running_.size(), chance());
    }
  }
  void end_all() {
    while (!running_.empty()) end(0, true);
  }

 private:
  struct Running {
    std::uint64_t began_ns;
    ChildProcess process;
  };

  bool chance() { return random_() % 2 == 0; }

  /// No two are alike, as a rule: each has allocated something else.
  void begin() {
    const std::string blocks = std::to_string(1 + random_() % 1000);
    const std::string signal = std::to_string(chance() ? SIGKILL : SIGSEGV);
    const std::vector<std::string> words = {ledger_path("ends"), chance() ? "exit" : "signal", signal, blocks};
    running_.push_back(std::unique_ptr<Running>(new Running{unix_time_ns(), ChildProcess({.argv = words})}));
    running_.back()->process.read_line();
    ++begun_;
  }

  /// `is_awaited`: it is traced by then, and may begin or end before it is found if not.
  void end(std::size_t number, bool is_awaited) {
    const std::unique_ptr<Running> its = std::move(running_[number]);
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(number));
    if (is_awaited) daemon_.wait_until_traced(its->process.pid(), its->began_ns);
    its->process.send_byte();
    const Ledger ledger = read_ledger(its->process);
    its->process.wait();
    ended_.emplace(its->process.pid(), Ended{ledger.sites.at("by_malloc"), is_awaited});
  }

  DaemonProcess& daemon_;
  std::mt19937 random_{1};
  std::vector<std::unique_ptr<Running>> running_;
  std::size_t begun_ = 0;
  EndedProcesses ended_;
};

/// `of_it`: of a report, what is of one process.
void take_end(pid_t pid, bool has_ended, const nlohmann::json& of_it, RecordedProcesses& ends) {
  if (!has_ended) return;
  EXPECT_TRUE(of_it.at("numbers_exact").get<bool>()) << of_it;
  const nlohmann::json& totals = of_it.at("totals");
  ends.emplace(pid, Numbers{totals.at("allocated_bytes"), totals.at("allocated_count"), totals.at("freed_bytes"),
                            totals.at("freed_count")});
}

/// All that have ended while they were traced. What goes on in the next file has its end there.
RecordedProcesses recorded_ends(const std::vector<std::string>& recordings) {
  RecordedProcesses ends;
  for (const std::string& recording : recordings) {
    const auto report = nlohmann::json::parse(report_of(recording, {"--format", "json"}));
    if (!report.contains("targets")) {
      take_end(report.at("target").at("pid"), report.at("trace").at("target_exited"), report, ends);
      continue;
    }
    for (const auto& target : report.at("targets")) {
      take_end(target.at("pid"), target.at("target_exited"), target, ends);
    }
  }
  return ends;
}

bool is_part_of(const Numbers& part, const Numbers& whole) {
  return part.allocated_bytes <= whole.allocated_bytes && part.allocated_count <= whole.allocated_count &&
         part.freed_bytes <= whole.freed_bytes && part.freed_count <= whole.freed_count;
}

/// Takes from `recorded` what is a process's.
template <class IsIts>
bool take(RecordedProcesses& recorded, pid_t pid, IsIts is_its) {
  const auto [first, last] = recorded.equal_range(pid);
  const auto found = std::find_if(first, last, [&](const auto& entry) { return is_its(entry.second); });
  if (found == last) return false;
  recorded.erase(found);
  return true;
}

/// Expects that of each process that was traced before it allocated all is recorded, of the others nothing or a part,
/// and nothing else.
void expect_all_recorded(RecordedProcesses recorded, const EndedProcesses& ended) {
  for (const auto& [pid, its] : ended) {
    const Numbers& truth = its.truth;
    if (!its.was_traced) continue;
    EXPECT_TRUE(take(recorded, pid, [&](const Numbers& found) { return found == truth; })) << pid << ": " << truth;
  }
  for (const auto& [pid, its] : ended) {
    const Numbers& truth = its.truth;
    if (!its.was_traced) take(recorded, pid, [&](const Numbers& found) { return is_part_of(found, truth); });
  }
  for (const auto& [pid, found] : recorded) ADD_FAILURE() << "nobody has " << found << " of process " << pid;
}

/// HAWK_SOAK_SECONDS: for how long; HAWK_SOAK_PAUSE_MS: between two events, so that others can work meanwhile.
TEST(daemon, leaves_nothing_behind_after_a_soak) {
  const std::chrono::seconds length(number_of("HAWK_SOAK_SECONDS", 10));
  const std::chrono::milliseconds pause(number_of("HAWK_SOAK_PAUSE_MS", 0));
  // Processes of the machine, which come and go, and small blocks that malloc keeps for each thread, and counts.
  constexpr std::uint64_t kHeapMayGrow = std::uint64_t{512} << 10;
  // And what malloc keeps for a moment.
  constexpr std::uint64_t kMemoryMayGrow = std::uint64_t{6} << 20;
  DaemonProcess daemon(target_of("web", ledger_path("ends"), "record-every = \"1s\"\nrecord-file-size = \"1M\""));
  SoakedService service(daemon);
  for (int i = 0; i < 4; ++i) service.step();
  service.end_all();
  daemon.wait_until_all_have_ended();
  const auto before = daemon.kernel_objects_at_rest();
  const std::uint64_t heap_before = daemon.metric("hawktrace_heap_bytes");
  const std::uint64_t memory_before = daemon.anonymous_bytes();
  for (const auto until = std::chrono::steady_clock::now() + length; std::chrono::steady_clock::now() < until;) {
    std::this_thread::sleep_for(pause);  // the pace of a long soak; none by default
    service.step();
  }
  service.end_all();
  daemon.wait_until_all_have_ended();
  EXPECT_EQ(daemon.kernel_objects_at_rest(), before);
  const std::uint64_t heap_after = daemon.metric("hawktrace_heap_bytes");
  EXPECT_LT(heap_after, heap_before + kHeapMayGrow);
  daemon.wait_until_small(memory_before + kMemoryMayGrow);
  const std::uint64_t memory_after = daemon.anonymous_bytes();
  const std::uint64_t traced = daemon.metric("hawktrace_traces_begun_total{target=\"web\"}");
  const Numbers served = {daemon.metric("hawktrace_allocated_bytes_total{target=\"web\"}"),
                          daemon.metric("hawktrace_allocated_blocks_total{target=\"web\"}"),
                          daemon.metric("hawktrace_freed_bytes_total{target=\"web\"}"),
                          daemon.metric("hawktrace_freed_blocks_total{target=\"web\"}")};
  daemon.finish();
  const RecordedProcesses recorded = recorded_ends(daemon.recordings("web"));
  EXPECT_EQ(recorded.size(), traced);
  Numbers sum;
  for (const auto& [pid, numbers] : recorded) sum += numbers;
  EXPECT_EQ(served, sum);
  expect_all_recorded(recorded, service.ended());
  EXPECT_EQ(service.ended().size(), service.begun());
  EXPECT_GT(service.begun(), 50U);
  RecordProperty("processes", std::to_string(service.begun()));
  RecordProperty("traced", std::to_string(traced));
  RecordProperty("files", std::to_string(daemon.recordings("web").size()));
  RecordProperty("heap_before", std::to_string(heap_before));
  RecordProperty("heap_after", std::to_string(heap_after));
  RecordProperty("memory_before", std::to_string(memory_before));
  RecordProperty("memory_after", std::to_string(memory_after));
}

}  // namespace
}  // namespace hawk
