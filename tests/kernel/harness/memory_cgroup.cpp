#include "tests/kernel/harness/memory_cgroup.h"

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <thread>

namespace hawk {
namespace {

namespace fs = std::filesystem;

void write_number(const std::string& path, std::uint64_t number) {
  std::ofstream file(path);
  file << number << std::flush;
  if (!file) throw std::runtime_error("cannot write " + path);
}

/// Controllers -> path of our cgroup in their hierarchy; version 2 has none.
std::map<std::string, std::string> own_cgroups() {
  std::map<std::string, std::string> own;
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    own[line.substr(first + 1, second - first - 1)] = line.substr(second + 1);
  }
  return own;
}

}  // namespace

bool MemoryCgroup::try_make(const std::string& parent, const std::string& usage_file, const std::string& limit_file) {
  const std::string directory = parent + "/hawktrace-test-" + std::to_string(::getpid());
  std::error_code ignored;
  fs::create_directory(directory, ignored);
  if (!fs::exists(directory + "/" + limit_file)) {
    fs::remove(directory, ignored);
    return false;
  }
  directory_ = directory;
  usage_file_ = directory + "/" + usage_file;
  limit_file_ = directory + "/" + limit_file;
  return true;
}

MemoryCgroup::MemoryCgroup() {
  const std::map<std::string, std::string> own = own_cgroups();
  const auto path_of = [&](const std::string& controllers) {
    const auto found = own.find(controllers);
    return found == own.end() || found->second == "/" ? std::string() : found->second;
  };
  std::ifstream mounts("/proc/mounts");
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream words(line);
    std::string source, point, kind, flags;
    words >> source >> point >> kind >> flags;
    if (kind == "cgroup" && ("," + flags + ",").find(",memory,") != std::string::npos) {
      parent_ = point + path_of("memory");
      if (try_make(parent_, "memory.usage_in_bytes", "memory.limit_in_bytes")) return;
    } else if (kind == "cgroup2") {
      // Here a group with processes of its own has no controllers below it.
      parent_ = point + path_of("");
      const std::string beside = path_of("").empty() ? point : fs::path(parent_).parent_path().string();
      if (try_make(beside, "memory.current", "memory.max")) return;
    }
  }
  throw std::runtime_error("no memory cgroup can be made here");
}

MemoryCgroup::~MemoryCgroup() {
  for (int attempt = 0; attempt < 50; ++attempt) {
    std::error_code error;
    fs::remove(directory_, error);
    if (!error) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

void MemoryCgroup::enter() const { write_number(directory_ + "/cgroup.procs", static_cast<std::uint64_t>(::getpid())); }
void MemoryCgroup::leave() const { write_number(parent_ + "/cgroup.procs", static_cast<std::uint64_t>(::getpid())); }

std::uint64_t MemoryCgroup::usage() const {
  std::uint64_t bytes = 0;
  std::ifstream file(usage_file_);
  file >> bytes;
  if (!file) throw std::runtime_error("cannot read " + usage_file_);
  return bytes;
}

void MemoryCgroup::limit(std::uint64_t bytes) const { write_number(limit_file_, bytes); }

}  // namespace hawk
