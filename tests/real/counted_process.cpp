#include "tests/real/counted_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <utility>

#include "tests/kernel/harness/compare.h"
#include "tests/real/stopped_threads.h"

namespace hawk {
namespace {

using Clock = std::chrono::steady_clock;

hawk_account* map_account(const std::string& path) {
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  void* shared = MAP_FAILED;
  if (file >= 0 && ftruncate(file, sizeof(hawk_account)) == 0) {
    shared = mmap(nullptr, sizeof(hawk_account), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  }
  close(file);
  if (shared == MAP_FAILED) throw std::runtime_error("no account can be made at " + path);
  return static_cast<hawk_account*>(shared);
}

Numbers numbers_of(const hawk_account& account) {
  return {account.allocated_bytes, account.allocated_count, account.freed_bytes, account.freed_count};
}

}  // namespace

CountedProcess::CountedProcess(Twin twin) : account_(map_account(directory_.path("account"))), twin_(std::move(twin)) {
  twin_.setup.environment["LD_PRELOAD"] = HAWK_COUNTER_PATH;
  twin_.setup.environment[HAWK_ACCOUNT_VARIABLE] = directory_.path("account");
  process_ = std::make_unique<ChildProcess>(twin_.setup);
}

CountedProcess::~CountedProcess() {
  expect_same_untraced(*process_, twin_);
  process_.reset();
  munmap(account_, sizeof(hawk_account));
}

bool CountedProcess::is_outside_allocator(const std::vector<pid_t>& threads) const {
  if (__atomic_load_n(&account_->inside, __ATOMIC_SEQ_CST) != 0) return false;
  // The counter's marks do not cover its functions' first and last instructions, where hawktrace's probes sit, nor the
  // code to which the kernel diverts a probed thread.
  const pid_t pid = process_->pid();
  std::vector<CodeRange> probed = code_of(pid, HAWK_COUNTER_PATH);
  if (probed.empty()) throw std::runtime_error("the process has not preloaded " HAWK_COUNTER_PATH);
  const std::vector<CodeRange> diverted = code_of(pid, "[uprobes]");
  probed.insert(probed.end(), diverted.begin(), diverted.end());
  return std::all_of(threads.begin(), threads.end(), [&](pid_t tid) {
    const std::optional<std::uint64_t> pc = program_counter(pid, tid);
    return pc && std::none_of(probed.begin(), probed.end(),
                              [&](const CodeRange& range) { return range.begin <= *pc && *pc < range.end; });
  });
}

std::uint64_t CountedProcess::calls() const { return __atomic_load_n(&account_->calls, __ATOMIC_SEQ_CST); }

void CountedProcess::wait_for_calls(std::uint64_t count) const {
  const Clock::time_point deadline = Clock::now() + std::chrono::milliseconds(kPatienceMs);
  const std::uint64_t before = calls();
  while (calls() - before < count) {
    if (Clock::now() > deadline) throw std::runtime_error("the process does not call its allocator");
    sched_yield();
  }
}

/// Runs it until another allocator call is done, or for a moment if there is none.
void CountedProcess::let_it_go_on() {
  const std::uint64_t before = calls();
  const Clock::time_point moment = Clock::now() + std::chrono::milliseconds(5);
  resume();
  while (calls() == before && Clock::now() < moment) sched_yield();
}

void CountedProcess::stop_outside_allocator() {
  const Clock::time_point deadline = Clock::now() + std::chrono::milliseconds(kPatienceMs);
  while (Clock::now() < deadline) {
    process_->send_signal(SIGSTOP);
    if (is_outside_allocator(wait_until_stopped(process_->pid()))) return;

    let_it_go_on();
  }
  throw std::runtime_error("at every stop a thread was inside the allocator");
}

void CountedProcess::resume() { process_->send_signal(SIGCONT); }

void CountedProcess::start_counting() { __atomic_store_n(&account_->counting, 1, __ATOMIC_SEQ_CST); }

Witnesses trace_counted(CountedProcess& target, Way way, const std::function<void()>& work) {
  target.stop_outside_allocator();
  Trace trace = Trace::attach(target.process().pid(), way);
  target.start_counting();
  target.resume();
  work();
  target.stop_outside_allocator();
  Witnesses witnesses{.report = trace.finish(), .account = target.account()};
  target.resume();
  return witnesses;
}

void expect_exact(const Report& report) {
  expect_sound(report);
  for (const auto& [cause, count] : report.losses) EXPECT_EQ(count, 0u) << "losses." << cause;
  EXPECT_TRUE(report.exact);
  EXPECT_FALSE(report.target_exited);
  EXPECT_EQ(report.exec_count, 0u);
}

void expect_equal(const Witnesses& witnesses) {
  const auto& [report, account] = witnesses;
  expect_exact(report);
  EXPECT_EQ(account.lost, 0u) << "the counter's table is too small";
  EXPECT_EQ(account.live_bytes, account.allocated_bytes - account.freed_bytes) << "the counter contradicts itself";
  EXPECT_EQ(account.live_count, account.allocated_count - account.freed_count) << "the counter contradicts itself";
  EXPECT_EQ(report.totals, numbers_of(account));
  EXPECT_EQ(report.live, (Numbers{account.live_bytes, account.live_count, 0, 0}));
  EXPECT_EQ(report.frees_of_untraced, account.unknown_frees);
}

}  // namespace hawk
