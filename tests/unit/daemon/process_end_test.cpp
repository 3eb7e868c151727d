#include "userspace/daemon/process_end.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "userspace/base/unique_fd.h"

namespace hawk {
namespace {

TEST(ProcessEnd, HasWords) {
  EXPECT_EQ(text_of(ProcessEnd{}), "ended");
  EXPECT_EQ(text_of({.wait_status = 3 << 8}), "exited with status 3");
  EXPECT_EQ(text_of({.wait_status = SIGSEGV | 0x80}), "was killed by SIGSEGV, core dumped");
  EXPECT_EQ(text_of({.wait_status = SIGKILL, .oom_killed = true}), "was killed for lack of memory");
}

TEST(ProcessEnd, IsACrashWhereNobodyAskedForIt) {
  EXPECT_FALSE((ProcessEnd{}.is_crash()));
  EXPECT_FALSE((ProcessEnd{.wait_status = 3 << 8}.is_crash()));
  EXPECT_FALSE((ProcessEnd{.wait_status = SIGTERM}.is_crash()));
  EXPECT_TRUE((ProcessEnd{.wait_status = SIGABRT}.is_crash()));
  EXPECT_TRUE((ProcessEnd{.wait_status = SIGKILL}.is_crash()));
}

/// A child that has ended, and is not collected yet.
class EndedChild {
 public:
  explicit EndedChild(int status) : pid_(::fork()) {
    if (pid_ == 0) ::_exit(status);
    fd_ = UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
    siginfo_t info = {};
    ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT);
  }
  EndedChild(const EndedChild&) = delete;
  EndedChild& operator=(const EndedChild&) = delete;
  ~EndedChild() { collect(); }
  int pid() const { return pid_; }
  int fd() const { return fd_.get(); }
  void collect() const { ::waitpid(pid_, nullptr, 0); }

 private:
  int pid_;
  UniqueFd fd_;
};

TEST(ProcessEnd, IsReadOfAZombie) {
  const EndedChild child(5);
  EXPECT_EQ(read_wait_status(child.pid(), child.fd()), 5 << 8);
}

TEST(ProcessEnd, IsNotThatOfAnotherProcess) {
  const EndedChild child(5);
  child.collect();
  // Where the kernel does not keep it (before 6.15) nothing is known; never that of who has the number now.
  const std::optional<int> status = read_wait_status(::getpid(), child.fd());
  EXPECT_TRUE(!status || status == 5 << 8);
  EXPECT_EQ(read_wait_status(child.pid(), child.fd()), status);
}

TEST(ProcessEnd, IsInTheStatOfAZombieOnly) {
  const std::string fields =
      " 1 1 1 0 -1 4 0 0 0 0 0 0 0 0 20 0 1 0 5 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0 0 0 "
      "0 0 0 0 0 9\n";
  EXPECT_EQ(wait_status_in_stat("7 (a) b) Z" + fields), 9);
  EXPECT_EQ(wait_status_in_stat("7 (a) b) S" + fields), std::nullopt);
  EXPECT_EQ(wait_status_in_stat(""), std::nullopt);
}

}  // namespace
}  // namespace hawk
