#include "userspace/process/memory_reader.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>

#include "userspace/base/process_file.h"

namespace hawk {
namespace {

ssize_t read_at(int fd, std::uint64_t address, std::span<std::uint8_t> to) {
  ssize_t got = 0;
  do {
    got = ::pread(fd, to.data(), to.size(), static_cast<off_t>(address));
  } while (got < 0 && errno == EINTR);
  return got;
}

}  // namespace

MemoryReader::MemoryReader(int proc_pid)
    : directory_(open_process_file(fmt::format("/proc/{}", proc_pid))), has_ended_(!directory_) {}

/// The descriptor is bound to the memory that the process has now, and not to its number.
void MemoryReader::open() {
  file_ = open_process_file(fmt::format("/proc/self/fd/{}/mem", directory_.get()));
  has_ended_ = !file_ && (errno == ESRCH || errno == ENOENT);
}

bool MemoryReader::read(std::uint64_t address, std::span<std::uint8_t> to) {
  if (!file_ && !has_ended_) open();
  if (!file_) return false;
  ssize_t got = read_at(file_.get(), address, to);
  if (got == 0) {  // that memory is gone: the process has ended, or runs another program
    open();
    if (!file_) return false;
    got = read_at(file_.get(), address, to);
  }
  return got == static_cast<ssize_t>(to.size());
}

}  // namespace hawk
