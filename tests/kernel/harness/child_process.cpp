#include "tests/kernel/harness/child_process.h"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace hawk {
namespace {

constexpr uid_t kNobody = 65534;

struct Pipe {
  int read_end = -1;
  int write_end = -1;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe2 failed");
  return {ends[0], ends[1]};
}

/// In the child, after fork: never returns.
[[noreturn]] void become(const ChildProcess::Setup& setup, int input, int output, int errors) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  dup2(input, 0);
  dup2(output, 1);
  dup2(errors, 2);
  for (const int descriptor : setup.inherited) fcntl(descriptor, F_SETFD, 0);
  for (const auto& [name, value] : setup.environment) setenv(name.c_str(), value.c_str(), 1);
  if (setup.as_nobody && (setgroups(0, nullptr) != 0 || setresgid(kNobody, kNobody, kNobody) != 0 ||
                          setresuid(kNobody, kNobody, kNobody) != 0)) {
    _exit(126);
  }
  std::vector<char*> argv;
  for (const std::string& argument : setup.argv) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  _exit(127);
}

}  // namespace

bool wait_readable(int descriptor) {
  pollfd wanted{descriptor, POLLIN, 0};
  int ready = 0;
  do {
    ready = poll(&wanted, 1, kPatienceMs);
  } while (ready < 0 && errno == EINTR);
  return ready > 0;
}

ChildProcess::ChildProcess(const Setup& setup) : name_(setup.argv.at(0)) {
  const Pipe in = make_pipe();
  const Pipe out = make_pipe();
  errors_ = memfd_create("errors", MFD_CLOEXEC);
  pid_ = fork();
  if (pid_ == 0) become(setup, in.read_end, out.write_end, errors_);
  close(in.read_end);
  close(out.write_end);
  input_ = in.write_end;
  output_ = out.read_end;
  if (pid_ < 0) fail("fork failed");
}

ChildProcess::~ChildProcess() {
  if (pid_ > 0 && status_ < 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  for (const int descriptor : {input_, output_, errors_}) {
    if (descriptor >= 0) close(descriptor);
  }
}

void ChildProcess::send_byte() {
  note_act(Act::Kind::kByte);
  if (write(input_, "g", 1) != 1) fail("its standard input is closed");
}

void ChildProcess::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = write(input_, bytes.data(), bytes.size());
    if (sent <= 0) fail("its standard input is closed");
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

void ChildProcess::close_input() {
  if (input_ < 0) return;
  note_act(Act::Kind::kEndOfInput);
  close(input_);
  input_ = -1;
}

bool ChildProcess::read_more() {
  if (!wait_readable(output_)) fail("it wrote nothing for too long");
  std::array<char, 4096> chunk{};
  const ssize_t count = read(output_, chunk.data(), chunk.size());
  if (count <= 0) return false;
  buffer_.append(chunk.data(), static_cast<std::size_t>(count));
  all_output_.append(chunk.data(), static_cast<std::size_t>(count));
  return true;
}

std::optional<std::string> ChildProcess::next_line() {
  std::size_t end = 0;
  while ((end = buffer_.find('\n')) == std::string::npos) {
    if (!read_more()) return std::nullopt;
  }
  std::string line = buffer_.substr(0, end);
  buffer_.erase(0, end + 1);
  line_since_act_ = line;
  return line;
}

std::string ChildProcess::read_line() {
  std::optional<std::string> line = next_line();
  if (!line) fail("its output ended early");
  return *std::move(line);
}

std::string ChildProcess::read_to_end() {
  while (read_more()) continue;
  return std::exchange(buffer_, {});
}

void ChildProcess::send_signal(int number) {
  if (status_ >= 0) return;
  note_act(Act::Kind::kSignal, number);
  kill(pid_, number);
}

void ChildProcess::note_act(Act::Kind kind, int signal) {
  acts_.push_back({kind, signal, std::exchange(line_since_act_, std::nullopt)});
}

void ChildProcess::repeat_acts_on(ChildProcess& other,
                                  const std::function<std::string(std::string)>& comparable) const {
  for (const Act& act : acts_) {
    while (act.after && comparable(other.read_line()) != comparable(*act.after)) continue;
    switch (act.kind) {
      case Act::Kind::kByte:
        other.send_byte();
        break;
      case Act::Kind::kEndOfInput:
        other.close_input();
        break;
      case Act::Kind::kSignal:
        other.send_signal(act.signal);
        break;
    }
  }
}

int ChildProcess::wait() {
  if (status_ >= 0) return status_;
  const int handle = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
  const bool ended = handle >= 0 && wait_readable(handle);
  close(handle);
  if (!ended) fail("it did not end in time");
  int status = 0;
  waitpid(pid_, &status, 0);
  status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return status_;
}

std::string ChildProcess::errors() const {
  std::string text(static_cast<std::size_t>(std::max<off_t>(lseek(errors_, 0, SEEK_END), 0)), '\0');
  const ssize_t count = pread(errors_, text.data(), text.size(), 0);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  return text;
}

void ChildProcess::fail(std::string_view what) const {
  throw std::runtime_error(name_ + ": " + std::string(what) + "\nits standard error: " + errors() +
                           "\nits output so far: " + buffer_);
}

std::vector<pid_t> children_of(pid_t pid) {
  std::vector<pid_t> children;
  DIR* proc = opendir("/proc");
  while (const dirent* entry = readdir(proc)) {
    std::ifstream file("/proc/" + std::string(entry->d_name) + "/stat");
    std::string stat;
    if (!std::getline(file, stat)) continue;
    // "pid (comm) state ppid ...": comm may hold anything, a parenthesis included.
    const std::size_t after_comm = stat.rfind(')');
    if (after_comm == std::string::npos || after_comm + 4 >= stat.size()) continue;
    if (std::stoi(stat.substr(after_comm + 4)) == pid) children.push_back(std::stoi(entry->d_name));
  }
  closedir(proc);
  return children;
}

std::optional<pid_t> command_of(pid_t hawktrace) {
  const auto program_of = [](pid_t pid) {
    std::error_code none;
    return std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/exe", none);
  };
  for (const pid_t child : children_of(hawktrace)) {
    if (program_of(child) != program_of(hawktrace)) return child;
  }
  return std::nullopt;
}

}  // namespace hawk
