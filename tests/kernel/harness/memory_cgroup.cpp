#include "tests/kernel/harness/memory_cgroup.h"

#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>

namespace hawk {
namespace {

[[noreturn]] void give_up(const std::string& what) {
  throw std::runtime_error("a memory cgroup: " + what + ": " + std::strerror(errno));
}

void write_number(const std::string& path, std::uint64_t number) {
  std::ofstream file(path);
  file << number << std::flush;
  if (!file) give_up("write " + path);
}

std::uint64_t read_number(const std::string& path) {
  std::uint64_t number = 0;
  std::ifstream file(path);
  file >> number;
  if (!file) give_up("read " + path);
  return number;
}

/// Controllers -> path of our cgroup in their hierarchy, from its root; version 2 has none.
std::map<std::string, std::string> own_cgroups() {
  std::map<std::string, std::string> own;
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    const std::string path = line.substr(second + 1);
    own[line.substr(first + 1, second - first - 1)] = path == "/" ? "" : path;
  }
  return own;
}

}  // namespace

MemoryCgroup::MemoryCgroup() {
  std::map<std::string, std::string> own = own_cgroups();
  const bool is_first_version = own.contains("memory");
  mount_point_ = (std::filesystem::temp_directory_path() / "hawktrace-cgroup-XXXXXX").string();
  if (::mkdtemp(mount_point_.data()) == nullptr) give_up("make " + mount_point_);
  const int mounted = is_first_version ? ::mount("none", mount_point_.c_str(), "cgroup", 0, "memory")
                                       : ::mount("none", mount_point_.c_str(), "cgroup2", 0, nullptr);
  if (mounted != 0) {
    const int why = errno;
    ::rmdir(mount_point_.c_str());
    errno = why;
    give_up("mount the hierarchy");
  }
  home_ = mount_point_ + own[is_first_version ? "memory" : ""];
  // In version 2 a group with processes of its own has no controllers below it.
  const bool is_below = is_first_version || home_ == mount_point_;
  const std::string parent = is_below ? home_ : std::filesystem::path(home_).parent_path().string();
  // A name that no test before has left behind.
  directory_ = parent + "/hawktrace-test-XXXXXX";
  const bool is_made = ::mkdtemp(directory_.data()) != nullptr;
  usage_file_ = directory_ + (is_first_version ? "/memory.usage_in_bytes" : "/memory.current");
  highest_usage_file_ = directory_ + (is_first_version ? "/memory.max_usage_in_bytes" : "/memory.peak");
  limit_file_ = directory_ + (is_first_version ? "/memory.limit_in_bytes" : "/memory.max");
  events_file_ = directory_ + (is_first_version ? "/memory.oom_control" : "/memory.events");
  if (!is_made || !std::filesystem::exists(limit_file_)) {
    const int why = errno;
    remove();
    errno = why;
    give_up("make " + limit_file_);
  }
}

MemoryCgroup::~MemoryCgroup() { remove(); }

void MemoryCgroup::remove() {
  ::rmdir(directory_.c_str());
  ::umount2(mount_point_.c_str(), MNT_DETACH);
  ::rmdir(mount_point_.c_str());
}

void MemoryCgroup::enter() const { write_number(directory_ + "/cgroup.procs", static_cast<std::uint64_t>(::getpid())); }
void MemoryCgroup::leave() const { write_number(home_ + "/cgroup.procs", static_cast<std::uint64_t>(::getpid())); }

std::vector<std::string> MemoryCgroup::runner() const {
  return {"/bin/sh", "-c", "echo $$ > " + directory_ + "/cgroup.procs && exec \"$@\"", "sh"};
}

std::uint64_t MemoryCgroup::kills() const {
  std::ifstream file(events_file_);
  std::string name;
  std::uint64_t count = 0;
  while (file >> name >> count) {
    if (name == "oom_kill") return count;
  }
  give_up("read oom_kill in " + events_file_);
}

std::uint64_t MemoryCgroup::usage() const { return read_number(usage_file_); }
std::uint64_t MemoryCgroup::highest_usage() const { return read_number(highest_usage_file_); }

void MemoryCgroup::limit(std::uint64_t bytes) const { write_number(limit_file_, bytes); }

}  // namespace hawk
