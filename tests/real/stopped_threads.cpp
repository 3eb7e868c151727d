#include "tests/real/stopped_threads.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "tests/kernel/harness/child_process.h"

namespace hawk {
namespace {

std::string thread_path(pid_t pid, pid_t tid, const std::string& file) {
  return "/proc/" + std::to_string(pid) + "/task/" + std::to_string(tid) + "/" + file;
}

std::vector<pid_t> threads_of(pid_t pid) {
  std::vector<pid_t> threads;
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task", std::ref(error))) {
    threads.push_back(std::stoi(entry.path().filename().string()));
  }
  std::sort(threads.begin(), threads.end());
  return threads;
}

/// Stopped, or past its last instruction.
bool stands_still(pid_t pid, pid_t tid) {
  std::ifstream file(thread_path(pid, tid, "stat"));
  std::string stat;
  if (!std::getline(file, stat)) return true;  // gone since it was listed
  // "tid (comm) state ...": comm may hold anything, a parenthesis included.
  const std::size_t after_comm = stat.rfind(')');
  if (after_comm == std::string::npos || after_comm + 2 >= stat.size()) return false;
  const char state = stat[after_comm + 2];
  return state == 'T' || state == 'Z' || state == 'X';
}

}  // namespace

std::vector<pid_t> wait_until_stopped(pid_t pid) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(kPatienceMs);
  // A thread that was still running may have made another one since the listing: only when none ran during a whole
  // pass does the next listing have all.
  std::vector<pid_t> still;
  while (std::chrono::steady_clock::now() < deadline) {
    const std::vector<pid_t> threads = threads_of(pid);
    if (threads.empty()) throw std::runtime_error("the process to be stopped is gone");
    const bool all_still =
        std::all_of(threads.begin(), threads.end(), [pid](pid_t tid) { return stands_still(pid, tid); });
    if (all_still && threads == still) return threads;
    still = all_still ? threads : std::vector<pid_t>{};
    sched_yield();
  }
  throw std::runtime_error("the process did not stop in time");
}

std::optional<std::uint64_t> program_counter(pid_t pid, pid_t tid) {
  // "running", or "<number> [<arguments>] <stack pointer> <program counter>": proc(5), /proc/pid/syscall.
  std::ifstream file(thread_path(pid, tid, "syscall"));
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  const std::size_t last_space = line.rfind(' ');
  if (last_space == std::string::npos) return std::nullopt;
  return std::stoull(line.substr(last_space + 1), nullptr, 16);
}

std::vector<CodeRange> code_of(pid_t pid, const std::string& name) {
  std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
  std::vector<CodeRange> ranges;
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    CodeRange range;
    char dash = 0;
    std::string permissions, offset, device, inode, path;
    words >> std::hex >> range.begin >> dash >> range.end >> permissions >> offset >> device >> inode >> path;
    if (path == name && permissions.find('x') != std::string::npos) ranges.push_back(range);
  }
  return ranges;
}

}  // namespace hawk
