#include "userspace/base/file_system_answers.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/magic.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

namespace hawk {
namespace {

using Clock = std::chrono::steady_clock;

/// In which a copy must grow.
constexpr int kTimeLimitMs = 2000;
/// For all files together, in a period: a daemon runs for months.
constexpr std::chrono::seconds kTimeInSum{10};
constexpr std::chrono::minutes kPeriod{10};
/// The number of a device is given to another file system once it is not mounted any more.
constexpr std::chrono::seconds kKnownFor{30};
/// Of one file, and of all of them in a period.
constexpr std::uint64_t kMaxCopyBytes = 256u << 20;
constexpr std::uint64_t kMaxBytesInSum = std::uint64_t{2} << 30;

/// The exit status of the process that reads the file.
enum Status { kStatusKernel, kStatusCopied, kStatusUnreadable, kStatusTooLarge };

void keep_nothing_open_but(int first, int second) {
  const auto close_between = [](unsigned low, unsigned high) {
    if (low <= high) ::close_range(low, high, 0);
  };
  const unsigned low = static_cast<unsigned>(first < second ? first : second);
  const unsigned high = static_cast<unsigned>(first < second ? second : first);
  if (low > 0) close_between(0, low - 1);
  close_between(low + 1, high - 1);
  close_between(high + 1, ~0u);
}

/// By the number of its link, written by hand.
int open_found(int fd) {
  char path[32] = "/proc/self/fd/";
  char* end = path + sizeof("/proc/self/fd/") - 1;
  int scale = 1;
  while (fd / scale >= 10) scale *= 10;
  for (; scale > 0; scale /= 10) *end++ = static_cast<char>('0' + fd / scale % 10);
  *end = '\0';
  return ::open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
}

Status copy_all(int from, int to) {
  char buffer[1u << 16];
  std::uint64_t copied = 0;
  for (;;) {
    const ssize_t got = ::read(from, buffer, sizeof(buffer));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got == 0 ? kStatusCopied : kStatusUnreadable;
    copied += static_cast<std::uint64_t>(got);
    if (copied > kMaxCopyBytes) return kStatusTooLarge;
    if (::write(to, buffer, static_cast<std::size_t>(got)) != got) return kStatusUnreadable;
  }
}

/// Runs in a child process of a multi-threaded process: only system calls are allowed.
[[noreturn]] void ask(int fd, int copy) {
  keep_nothing_open_but(fd, copy);
  struct statfs file_system = {};
  // A file system that refuses statfs is in user space: all of the kernel's support it.
  if (::fstatfs(fd, &file_system) == 0 && file_system.f_type != FUSE_SUPER_MAGIC) ::_exit(kStatusKernel);
  const int file = open_found(fd);
  ::_exit(file < 0 ? kStatusUnreadable : copy_all(file, copy));
}

std::uint64_t size_of(const UniqueFd& file) {
  struct stat status = {};
  return ::fstat(file.get(), &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

/// Whether that process ends; false: the copy has not grown for a while, or the time limit is reached.
bool await(const UniqueFd& ending, const UniqueFd& copy, Clock::time_point deadline) {
  pollfd ended = {.fd = ending.get(), .events = POLLIN, .revents = 0};
  for (std::uint64_t before = 0;;) {
    const int ready = ::poll(&ended, 1, kTimeLimitMs);
    if (ready > 0) return true;
    if (ready < 0 && errno == EINTR) continue;
    const std::uint64_t now = size_of(copy);
    if (now == before || Clock::now() >= deadline) return false;
    before = now;
  }
}

/// nullopt: no answer.
std::optional<Status> ask_beside(int fd, const UniqueFd& copy, Clock::time_point deadline) {
  int pid_fd = -1;
  // No signal at its end: nothing else waits for it.
  const long pid = ::syscall(SYS_clone, CLONE_PIDFD, nullptr, &pid_fd, nullptr, nullptr);
  if (pid == 0) ask(fd, copy.get());
  if (pid < 0) return std::nullopt;
  const UniqueFd ending(pid_fd);
  if (!await(ending, copy, deadline)) {
    ::kill(static_cast<pid_t>(pid), SIGKILL);
    return std::nullopt;
  }
  int status = 0;
  while (::waitpid(static_cast<pid_t>(pid), &status, __WALL) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? std::optional(static_cast<Status>(WEXITSTATUS(status))) : std::nullopt;
}

/// Queries one file system at a time, and caches the result.
class Copier {
 public:
  ReadBy read(int fd, std::uint64_t device, UniqueFd& copy) {
    const std::lock_guard lock(mutex_);
    forget_old(Clock::now());
    const auto known = answers_.find(device);
    if (known != answers_.end() && known->second == Answer::kKernel) return ReadBy::kKernel;
    if ((known != answers_.end() && known->second == Answer::kNone) || used_ >= kTimeInSum) return refuse(ETIMEDOUT);
    if (bytes_ >= kMaxBytesInSum) return refuse(EFBIG);
    copy = UniqueFd(static_cast<int>(::syscall(SYS_memfd_create, "copy", MFD_CLOEXEC)));
    if (!copy) return ReadBy::kNone;
    const Clock::time_point began = Clock::now();
    const std::optional<Status> status = ask_beside(fd, copy, began + (kTimeInSum - used_));
    if (status == kStatusKernel) {
      answers_.insert_or_assign(device, Answer::kKernel);
      copy.reset();
      return ReadBy::kKernel;
    }
    used_ += Clock::now() - began;
    bytes_ += size_of(copy);
    answers_.insert_or_assign(device, status ? Answer::kComes : Answer::kNone);
    if (status == kStatusCopied) return ReadBy::kCopier;
    copy.reset();
    return refuse(!status ? ETIMEDOUT : status == kStatusTooLarge ? EFBIG : EIO);
  }

 private:
  enum class Answer { kKernel, kComes, kNone };

  void forget_old(Clock::time_point now) {
    if (now - answers_since_ >= kKnownFor) {
      answers_.clear();
      answers_since_ = now;
    }
    if (now - used_since_ >= kPeriod) {
      used_ = {};
      bytes_ = 0;
      used_since_ = now;
    }
  }

  static ReadBy refuse(int error) {
    errno = error;
    return ReadBy::kNone;
  }

  std::mutex mutex_;
  std::map<std::uint64_t, Answer> answers_;  ///< by device
  Clock::time_point answers_since_ = Clock::now();
  Clock::duration used_{};
  Clock::time_point used_since_ = Clock::now();
  std::uint64_t bytes_ = 0;
};

}  // namespace

ReadBy reader_of(int fd, std::uint64_t device, UniqueFd& copy) {
  // The file systems that answer from user space have no device of their own.
  if (::major(device) != 0) return ReadBy::kKernel;
  static Copier copier;
  return copier.read(fd, device, copy);
}

}  // namespace hawk
