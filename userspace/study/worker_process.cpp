#include "userspace/study/worker_process.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "userspace/base/system_failure.h"
#include "userspace/process/own_code.h"
#include "userspace/study/worker_usage.h"

namespace hawk {
namespace {

/// What a new process is given: its end of the channel, and nothing else of ours.
class Inheritance {
 public:
  explicit Inheritance(int socket) {
    ::posix_spawn_file_actions_init(&files_);
    for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
      note(::posix_spawn_file_actions_addopen(&files_, standard, "/dev/null", O_RDWR, 0));
    }
    note(::posix_spawn_file_actions_adddup2(&files_, socket, kWorkerSocket));
    note(::posix_spawn_file_actions_addclosefrom_np(&files_, kWorkerSocket + 1));
    sigset_t none, all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_init(&attributes_);
    note(::posix_spawnattr_setsigmask(&attributes_, &none));
    note(::posix_spawnattr_setsigdefault(&attributes_, &all));
    // Ctrl-C is for us: what has been counted is still to be shown with its names.
    note(::posix_spawnattr_setpgroup(&attributes_, 0));
    note(::posix_spawnattr_setflags(&attributes_,
                                    POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP));
  }
  Inheritance(const Inheritance&) = delete;
  Inheritance& operator=(const Inheritance&) = delete;
  ~Inheritance() {
    ::posix_spawn_file_actions_destroy(&files_);
    ::posix_spawnattr_destroy(&attributes_);
  }

  /// Returns errno, or 0.
  int start(const std::string& program, const char* how, pid_t& pid) const {
    if (error_ != 0) return error_;
    char name[] = "hawktrace", argument[64] = {};
    ::strncpy(argument, how, sizeof argument - 1);
    char* arguments[] = {name, argument, nullptr};
    char* environment[] = {nullptr};
    return ::posix_spawn(&pid, program.c_str(), &files_, &attributes_, arguments, environment);
  }

 private:
  void note(int error) {
    if (error_ == 0) error_ = error;
  }

  posix_spawn_file_actions_t files_;
  posix_spawnattr_t attributes_;
  int error_ = 0;
};

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS)
    return "its reader made a forbidden system call and was killed";
  if (WIFSIGNALED(status)) return fmt::format("its reader crashed ({})", ::strsignal(WTERMSIG(status)));
  return "its reader exited without an answer";
}

}  // namespace

Result<std::unique_ptr<WorkerProcess>> WorkerProcess::start(const std::string& program, WorkerLimits limits) {
  const std::string what = "start a process that reads files";
  std::optional<std::pair<Channel, Channel>> ends = Channel::make_pair();
  if (!ends) return system_failure(ExitCode::kPrivilege, what, errno);
  // posix_spawn() says of a descriptor that is to keep its number nothing else than that it is kept open by exec.
  const Inheritance inheritance(ends->second.fd());
  pid_t pid = 0;
  const bool has_moved_code = own_code_is_moved();
  const int error = inheritance.start(program, has_moved_code ? kMovedWorkerArgument : kWorkerArgument, pid);
  if (error != 0) return system_failure(ExitCode::kPrivilege, what, error);
  note_worker_started(pid);
  return std::unique_ptr<WorkerProcess>(new WorkerProcess(pid, std::move(ends->first), limits, has_moved_code));
}

bool WorkerProcess::has_code_as_we() const { return has_moved_code_ == own_code_is_moved(); }

WorkerProcess::~WorkerProcess() { stop(Ending::kAtOnce); }

std::optional<double> WorkerProcess::processor_seconds() const {
  clockid_t clock = 0;
  timespec now = {};
  if (::clock_getcpuclockid(pid_, &clock) != 0 || ::clock_gettime(clock, &now) != 0) return std::nullopt;
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

void WorkerProcess::begin_work() {
  began_ = looked_at_ = std::chrono::steady_clock::now();
  began_at_.reset();
  seen_at_ = 0;
  idle_seconds_ = 0;
}

std::optional<Message> WorkerProcess::receive() {
  std::optional<Message> message = channel_.receive([this] { return is_worth_waiting(); });
  // While messages keep coming that is not asked.
  const bool is_due = std::chrono::steady_clock::now() - looked_at_ >= std::chrono::seconds(1);
  if (message && is_due && !is_worth_waiting()) return std::nullopt;
  return message;
}

void WorkerProcess::give_up_waiting(const char* why) {
  given_up_ = why;
  has_hung_ = true;
}

/// To be asked each second while work goes on.
bool WorkerProcess::is_worth_waiting() {
  looked_at_ = std::chrono::steady_clock::now();
  const std::optional<double> now = processor_seconds();
  if (!now) return true;  // it has ended, and the channel will show that
  if (!began_at_) began_at_ = *now;
  // As the clock of each second is read once, a process that works at all has got further by then.
  idle_seconds_ = *now > seen_at_ ? 0 : idle_seconds_ + 1;
  seen_at_ = *now;
  const bool is_late = looked_at_ - began_ > std::chrono::seconds(limits_.seconds);
  if (is_late || *now - *began_at_ > limits_.processor_seconds) give_up_waiting("its reader took too long");
  if (idle_seconds_ >= limits_.idle_seconds) give_up_waiting("its reader made no progress");
  return given_up_ == nullptr;
}

void WorkerProcess::begin_end() noexcept {
  note_worker_ending();
  ::kill(pid_, SIGKILL);
}

std::string WorkerProcess::end() {
  if (pid_ == 0) return {};
  const std::optional<int> status = stop(given_up_ == nullptr ? Ending::kByItself : Ending::kAtOnce);
  if (given_up_ != nullptr) return given_up_;
  return status ? how_it_ended(*status) : "its reader has disappeared";
}

std::optional<int> WorkerProcess::stop(Ending ending) noexcept {
  if (pid_ == 0) return std::nullopt;
  note_worker_ending();
  // If it is about to end by itself, how it does is worth a moment.
  if (ending == Ending::kByItself) {
    constexpr int kMomentMs = 1000;
    const UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
    channel_ = Channel(UniqueFd());
    pollfd ended = {.fd = process.get(), .events = POLLIN, .revents = 0};
    if (process) TEMP_FAILURE_RETRY(::poll(&ended, 1, kMomentMs));
  }
  ::kill(pid_, SIGKILL);
  int status = 0;
  // Asleep in a file system that does not answer it cannot be ended: init waits for it after us.
  const bool is_asleep = idle_seconds_ >= limits_.idle_seconds;
  rusage taken = {};
  const auto ended = TEMP_FAILURE_RETRY(::wait4(pid_, &status, is_asleep ? WNOHANG : 0, &taken));
  note_worker_ended(pid_, ended > 0 ? &taken : nullptr);
  pid_ = 0;
  return ended > 0 ? std::optional(status) : std::nullopt;
}

}  // namespace hawk
