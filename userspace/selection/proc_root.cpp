#include "userspace/selection/proc_root.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "userspace/base/process_file.h"
#include "userspace/base/system_failure.h"
#include "userspace/process/numbered_entries.h"

namespace hawk {
namespace {

/// Of procfs, whose entries are the kernel's: nothing in it waits or acts on being opened for reading.
UniqueFd open_at(const UniqueFd& directory, const char* name, int flags) {
  return UniqueFd(::openat(directory.get(), name, O_RDONLY | O_CLOEXEC | flags));
}

std::optional<std::string> read_at(const UniqueFd& directory, const char* name) {
  const UniqueFd file = open_at(directory, name, 0);
  if (!file) return std::nullopt;
  return read_to_end(file.get());
}

}  // namespace

std::optional<std::string> ProcDirectory::read(const char* file) const { return read_at(directory_, file); }

std::optional<std::string> ProcDirectory::link(const char* file) const {
  std::array<char, 4096> path;
  const ssize_t length = ::readlinkat(directory_.get(), file, path.data(), path.size());
  if (length < 0) return std::nullopt;
  return std::string(path.data(), static_cast<std::size_t>(length));
}

std::vector<int> ProcDirectory::threads() const { return numbered_entries(open_at(directory_, "task", O_DIRECTORY)); }

Result<ProcRoot> ProcRoot::open(const std::string& path) {
  UniqueFd directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) {
    return system_failure(ExitCode::kPrivilege, fmt::format("look for processes: open {}", path), errno,
                          "is procfs mounted? mount -t proc proc /proc");
  }
  return ProcRoot(std::move(directory));
}

std::vector<int> ProcRoot::pids() const { return numbered_entries(open_at(directory_, ".", O_DIRECTORY)); }

std::optional<ProcDirectory> ProcRoot::process(int pid) const {
  UniqueFd directory = open_at(directory_, std::to_string(pid).c_str(), O_DIRECTORY);
  if (!directory) return std::nullopt;
  return ProcDirectory(std::move(directory));
}

std::optional<std::string> ProcRoot::read(const char* file) const { return read_at(directory_, file); }

}  // namespace hawk
