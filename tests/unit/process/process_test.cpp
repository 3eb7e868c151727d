#include "userspace/process/process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <future>
#include <thread>

#include "tests/support/elf_fixture.h"
#include "userspace/base/process_file.h"
#include "userspace/process/mappings.h"

namespace hawk {
namespace {

void expect_error(const Result<ProcessInfo>& info, ExitCode code, const std::string& part) {
  ASSERT_FALSE(info);
  EXPECT_EQ(info.error().exit_code, code) << info.error().what;
  EXPECT_NE(info.error().what.find(part), std::string::npos) << info.error().what;
  EXPECT_FALSE(info.error().hint.empty());
}

TEST(InspectProcess, DescribesThisOne) {
  const Result<ProcessInfo> info = inspect_process(::getpid());
  ASSERT_TRUE(info) << info.error().what;
  EXPECT_EQ(info->pid, ::getpid());
  EXPECT_EQ(info->living_tid, ::getpid());
  EXPECT_EQ(info->comm, "unit_process");
  EXPECT_EQ(info->exe, std::filesystem::read_symlink("/proc/self/exe").string());
  EXPECT_NE(read_whole_file("/proc/self/cgroup")->find(":" + info->cgroup + "\n"), std::string::npos);
  EXPECT_GE(info->thread_count, 1);
  EXPECT_FALSE(info->main_thread_exited);
}

TEST(InspectProcess, NoSuchProcess) {
  expect_error(inspect_process(0x7ffffff0), ExitCode::kNoTarget, "no such process");
  expect_error(inspect_process(-1), ExitCode::kNoTarget, "no such process");
  expect_error(inspect_process(0), ExitCode::kNoTarget, "no such process");
}

TEST(InspectProcess, AThreadIdNamesItsProcess) {
  std::promise<int> tid;
  std::promise<void> done;
  std::thread thread([&] {
    tid.set_value(static_cast<int>(::syscall(SYS_gettid)));
    done.get_future().wait();
  });
  const Result<ProcessInfo> info = inspect_process(tid.get_future().get());
  done.set_value();
  thread.join();
  expect_error(info, ExitCode::kNoTarget, "it is a thread of process " + std::to_string(::getpid()));
  EXPECT_NE(info.error().hint.find("-p " + std::to_string(::getpid())), std::string::npos);
}

TEST(InspectProcess, AZombieHasExited) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(0);
  siginfo_t dead;
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(pid), &dead, WEXITED | WNOWAIT), 0);
  expect_error(inspect_process(pid), ExitCode::kNoTarget, "zombie");
  ::waitpid(pid, nullptr, 0);
}

TEST(ProcessHandle, IsOfThisProcess) {
  const ProcessHandle handle(::getpid());
  EXPECT_TRUE(handle.require_same());
}

/// As soon as it has been collected its number may be another's.
TEST(ProcessHandle, CollectedProcessIsAnother) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(0);
  const ProcessHandle handle(pid);
  siginfo_t dead;
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(pid), &dead, WEXITED | WNOWAIT), 0);
  EXPECT_TRUE(handle.require_same()) << "a zombie still has its number";
  ::waitpid(pid, nullptr, 0);
  const Result<void> same = handle.require_same();
  ASSERT_FALSE(same);
  EXPECT_EQ(same.error().exit_code, ExitCode::kNoTarget);
}

TEST(ProcessHandle, NoSuchProcess) { EXPECT_FALSE(ProcessHandle(0x7ffffff0).require_same()); }

TEST(IsBeingKilled, ByWhatItDiesOf) {
  for (const bool kills : {false, true}) {
    const pid_t pid = ::fork();
    if (pid == 0 && !kills) ::_exit(0);
    if (pid == 0) {
      for (;;) ::pause();
    }
    if (kills) {
      EXPECT_FALSE(is_being_killed(pid));
      ::kill(pid, SIGKILL);
    }
    siginfo_t dead;
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(pid), &dead, WEXITED | WNOWAIT), 0);
    EXPECT_EQ(is_being_killed(pid), kills);
    ::waitpid(pid, nullptr, 0);
    EXPECT_FALSE(is_being_killed(pid));
  }
}

void* wait_for_end(void*) {
  for (;;) ::pause();
}

/// A child whose main thread has exited while another one lives.
pid_t start_headless_process() {
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  pthread_t thread;
  if (::pthread_create(&thread, nullptr, wait_for_end, nullptr) != 0) ::_exit(1);
  ::syscall(SYS_exit, 0);
  ::_exit(1);
}

TEST(InspectProcess, AnExitedMainThreadIsNoObstacle) {
  const pid_t pid = start_headless_process();
  const std::string status_file = "/proc/" + std::to_string(pid) + "/status";
  while (read_whole_file(status_file).value_or("State:\tZ").find("State:\tZ") == std::string::npos) ::sched_yield();

  const Result<ProcessInfo> info = inspect_process(pid);
  ASSERT_TRUE(info) << info.error().what;
  EXPECT_TRUE(info->main_thread_exited);
  EXPECT_NE(info->living_tid, pid);
  EXPECT_EQ(info->exe, std::filesystem::read_symlink("/proc/self/exe").string());
  const Result<std::vector<Mapping>> mappings = read_mappings(pid);
  ASSERT_TRUE(mappings) << mappings.error().what;
  EXPECT_FALSE(mappings->empty());
  // What living_tid is for.
  EXPECT_FALSE(std::filesystem::is_empty("/proc/" + std::to_string(info->living_tid) + "/map_files"));

  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
}

TEST(InspectProcess, SomebodyElsesProcessNeedsPrivilege) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    if (::geteuid() == 0 && ::setresuid(65534, 65534, 65534) != 0) ::_exit(1);
    const Result<ProcessInfo> info = inspect_process(1);
    const bool right =
        !info && info.error().exit_code == ExitCode::kPrivilege && info.error().hint.find("sudo") != std::string::npos;
    ::_exit(right ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

/// Processes that a test machine may lack, as /proc shows them.
class InspectFakeProcess : public ::testing::Test {
 protected:
  void add(int pid, const std::string& status, const std::string& flags) {
    const std::string directory = std::to_string(pid);
    proc.write(directory + "/status",
               "Name:\ta) b\nUmask:\t0022\nState:\tS (sleeping)\nTgid:\t" + directory + "\n" + status);
    proc.write(directory + "/comm", "a) b\n");
    proc.write(directory + "/stat", directory + " (a) b) S 1 2 3 4 5 " + flags + " 7 8\n");
  }

  testing::TemporaryDirectory proc;
};

TEST_F(InspectFakeProcess, AKernelThreadHasNoHeap) {
  add(42, "Threads:\t1\n", "2129984");  // 0x208040: PF_KTHREAD among others
  expect_error(inspect_process(42, proc.path()), ExitCode::kPrivilege, "kernel thread");
}

TEST_F(InspectFakeProcess, A32BitProgramIsRefused) {
  add(43, "Threads:\t1\n", "4194304");
  const std::string program = proc.write("program", std::string("\177ELF\1\1\1", 7) + std::string(60, '\0'));
  std::filesystem::create_symlink(program, proc.path() + "/43/exe");
  expect_error(inspect_process(43, proc.path()), ExitCode::kPrivilege, "32-bit");
}

TEST(InspectProcess, NameIsAsItIs) {
  constexpr const char* kName = "a\\b\n\xff) \n";
  std::array<char, 16> before{};
  ASSERT_EQ(::prctl(PR_GET_NAME, before.data()), 0);
  ASSERT_EQ(::prctl(PR_SET_NAME, kName), 0);
  const Result<ProcessInfo> info = inspect_process(::getpid());
  ::prctl(PR_SET_NAME, before.data());
  ASSERT_TRUE(info) << info.error().what;
  EXPECT_EQ(info->comm, kName);
}

/// Root of a user namespace of its own, which is user nobody outside.
bool become_powerless_root() {
  const std::string map = "0 " + std::to_string(::geteuid()) + " 1";
  if (::unshare(CLONE_NEWUSER) != 0) return false;
  const UniqueFd file(::open("/proc/self/uid_map", O_WRONLY | O_CLOEXEC));
  return ::write(file.get(), map.data(), map.size()) == static_cast<ssize_t>(map.size()) && ::geteuid() == 0;
}

TEST(InspectProcess, RootIsNotToldToBecomeRoot) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    const bool became_root = become_powerless_root();
    const Result<ProcessInfo> info = inspect_process(1);
    const bool right = became_root && !info && info.error().exit_code == ExitCode::kPrivilege &&
                       info.error().hint.find("sudo") == std::string::npos;
    ::_exit(right ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(InspectFakeProcess, ThreadsAndSeccompAreRead) {
  add(44, "Threads:\t17\nSeccomp:\t2\nSeccomp_filters:\t1\n", "4194304");
  std::filesystem::create_symlink(testing::fixture_path("static_program"), proc.path() + "/44/exe");
  const Result<ProcessInfo> info = inspect_process(44, proc.path());
  ASSERT_TRUE(info) << info.error().what;
  EXPECT_EQ(info->comm, "a) b");
  EXPECT_EQ(info->thread_count, 17);
  EXPECT_EQ(info->seccomp_mode, 2);
  EXPECT_EQ(info->exe, testing::fixture_path("static_program"));
}

}  // namespace
}  // namespace hawk
