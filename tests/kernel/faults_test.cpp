// Nothing that fails inside hawktrace leaves anything behind: a preloaded library (faults/) makes the n-th call of a
// kind fail, or all from there on, and whatever n is, hawktrace ends in time with a status that it documents, with one
// message or with a report that is right or says that it is not, and the target lives on.
//
// HAWK_ALL_FAULTS=1 tries every n; otherwise as many as there is time for, other ones for each kind, the same in each
// run.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <set>
#include <sstream>
#include <stdexcept>

#include "tests/kernel/faults/plan.h"
#include "tests/kernel/harness/compare.h"
#include "tests/kernel/harness/kernel_test.h"
#include "tests/kernel/harness/ledger.h"

namespace hawk {
namespace {

struct Fault {
  const char* name;
  fault_kind kind;
  int error;
  bool for_ever;
  std::size_t tries;  ///< when there is not time for all
};

constexpr Fault kFaults[] = {
    {"memory_once", FAULT_MEMORY, ENOMEM, false, 24},
    {"memory_for_ever", FAULT_MEMORY, ENOMEM, true, 24},
    {"open_once", FAULT_OPEN, EMFILE, false, 10},
    {"open_for_ever", FAULT_OPEN, ENFILE, true, 8},
    {"read_interrupted", FAULT_READ, EINTR, false, 8},
    {"read_short", FAULT_READ, 0, false, 8},
    {"read_fails", FAULT_READ, EIO, false, 8},
    {"read_fails_for_ever", FAULT_READ, EIO, true, 6},
    {"write_interrupted", FAULT_WRITE, EINTR, false, 4},
    {"write_short", FAULT_WRITE, 0, true, 2},
    {"write_fails", FAULT_WRITE, ENOSPC, false, 6},
    {"map_once", FAULT_MAP, ENOMEM, false, 12},
    {"map_for_ever", FAULT_MAP, ENOMEM, true, 8},
    {"descriptor_once", FAULT_DESCRIPTOR, EMFILE, false, 12},
    {"descriptor_for_ever", FAULT_DESCRIPTOR, EMFILE, true, 8},
    {"wait_interrupted", FAULT_WAIT, EINTR, false, 4},
    {"bpf_once", FAULT_BPF, ENOMEM, false, 16},
    {"bpf_for_ever", FAULT_BPF, EPERM, true, 12},
    {"thread_once", FAULT_THREAD, EAGAIN, false, 8},
    {"thread_for_ever", FAULT_THREAD, EAGAIN, true, 4},
};

/// The plan of one run, in a file of its own.
class Plan {
 public:
  explicit Plan(const Fault& fault, std::uint64_t first) {
    const int fd = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    const bool sized = fd >= 0 && ftruncate(fd, sizeof(fault_plan)) == 0;
    void* mapped = sized ? mmap(nullptr, sizeof(fault_plan), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    close(fd);
    if (mapped == MAP_FAILED) throw std::runtime_error("map the plan of a fault");
    plan_ = static_cast<fault_plan*>(mapped);
    *plan_ = {.kind = static_cast<std::uint32_t>(fault.kind),
              .error = fault.error,
              .first = first,
              .for_ever = fault.for_ever ? 1U : 0U,
              .pad_0 = 0,
              .calls = 0,
              .failed = 0};
  }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  ~Plan() { munmap(plan_, sizeof(fault_plan)); }

  const std::string& path() const { return path_; }
  std::uint64_t calls() const { return __atomic_load_n(&plan_->calls, __ATOMIC_RELAXED); }
  std::uint64_t failed() const { return __atomic_load_n(&plan_->failed, __ATOMIC_RELAXED); }

 private:
  ScratchDirectory directory_;
  std::string path_ = directory_.path("plan");
  fault_plan* plan_ = nullptr;
};

void expect_one_message(const std::string& errors) {
  std::istringstream lines(errors);
  std::string line;
  int messages = 0;
  while (std::getline(lines, line)) {
    if (line.starts_with("hawktrace: error: ")) ++messages;
    EXPECT_TRUE(line.starts_with("hawktrace: ") || line.starts_with("hint: ")) << line;
  }
  EXPECT_EQ(messages, 1) << errors;
}

/// Names may be missing where a file could not be read; numbers may not.
void expect_right_or_flagged(const Report& report, const Ledger& ledger) {
  expect_sound(report);
  if (!report.exact) return;
  Numbers all;
  for (const auto& [function, numbers] : ledger.sites) all += numbers;
  EXPECT_EQ(report.totals, all);
}

/// What hawktrace says of a target that runs its script while it is traced, with the `first` call of that kind failing.
class Run {
 public:
  Run(const Fault& fault, std::uint64_t first, Way way) : plan_(fault, first) {
    LedgerProgram program({.program = "ends", .arguments = {"wait"}});
    start(program, way);
    const Ledger ledger = program.run();
    process_->send_signal(SIGINT);  // to one that has ended: nothing
    const int status = process_->wait();
    judge(status, ledger);
    program.close_input();
    EXPECT_EQ(program.wait(), 0) << "the target lives on";
  }

  const Plan& plan() const { return plan_; }

 private:
  /// Until it is ready, or has ended, or cannot say that it is ready.
  void start(const LedgerProgram& program, Way way) {
    std::array<int, 2> ready{};
    if (pipe2(ready.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe2 failed");
    process_ = std::make_unique<ChildProcess>(
        ChildProcess::Setup{.argv = {HAWKTRACE_PATH,
                                     "-q",
                                     "--attach-via",
                                     attach_via(way),
                                     "--live-table",
                                     live_table(way),
                                     "--unwind",
                                     unwind(way),
                                     "--format",
                                     "json",
                                     "-o",
                                     report_path_,
                                     "--verify",
                                     "--top",
                                     "0",
                                     "--max-stacks",
                                     "64",
                                     "--max-blocks",
                                     "4096",
                                     "--ready-fd",
                                     std::to_string(ready[1]),
                                     "-p",
                                     std::to_string(program.pid())},
                            .environment = {{"LD_PRELOAD", HAWK_FAULTS_PATH}, {FAULT_PLAN_VARIABLE, plan_.path()}},
                            .inherited = {ready[1]}});
    close(ready[1]);
    wait_readable(ready[0]);
    close(ready[0]);
  }

  void judge(int status, const Ledger& ledger) {
    const std::string errors = process_->errors();
    if (status == 0) {
      expect_right_or_flagged(read_report(report_path_), ledger);
      return;
    }
    EXPECT_TRUE(status >= 2 && status <= 6) << "status " << status << "\n" << errors;
    expect_one_message(errors);
    EXPECT_FALSE(std::filesystem::exists(report_path_)) << "an unfinished report";
  }

  ScratchDirectory directory_;
  std::string report_path_ = directory_.path("report.json");
  Plan plan_;
  std::unique_ptr<ChildProcess> process_;
};

/// Which calls out of `count` are made to fail: all, or first and last ones and some between that have no period in
/// common with anything.
std::set<std::uint64_t> choose(std::uint64_t count, std::size_t tries) {
  std::set<std::uint64_t> chosen;
  const bool all = std::getenv("HAWK_ALL_FAULTS") != nullptr || count <= tries;
  if (all) {
    for (std::uint64_t n = 1; n <= count; ++n) chosen.insert(n);
    return chosen;
  }
  constexpr double kGoldenRatio = 0.6180339887498949;
  double place = 0;
  while (chosen.size() < tries) {
    chosen.insert(1 + static_cast<std::uint64_t>(place * static_cast<double>(count)));
    place += kGoldenRatio;
    if (place >= 1) place -= 1;
  }
  return chosen;
}

void try_fault(const Fault& fault, Way way) {
  const Run unharmed(fault, 0, way);
  const std::uint64_t count = unharmed.plan().calls();
  ASSERT_GT(count, 0u) << "no such call is made, or none is seen";
  for (const std::uint64_t first : choose(count, fault.tries)) {
    SCOPED_TRACE(std::string(fault.name) + ": call " + std::to_string(first) + " of " + std::to_string(count));
    try {
      const Run run(fault, first, way);
    } catch (const std::exception& thrown) {
      ADD_FAILURE() << thrown.what();
    }
  }
}

/// Not by perf events, which take seconds to detach: what fails is the same.
constexpr Way kFaultWays[] = {Way::kSessionArena, Way::kMultiHash};

[[maybe_unused]] const bool registered = [] {
  for (const Fault& fault : kFaults) {
    register_kernel_test(
        "faults", fault.name, [&fault](Way way) { try_fault(fault, way); }, kFaultWays);
  }
  return true;
}();

}  // namespace
}  // namespace hawk
