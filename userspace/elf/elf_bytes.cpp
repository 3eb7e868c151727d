#include "userspace/elf/elf_bytes.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace hawk {
namespace {

/// More than any table of a real file; a bound against sparse files that claim terabytes.
constexpr std::uint64_t kMaxReadBytes = 256u << 20;

std::uint64_t size_of(int fd) {
  struct stat status = {};
  if (::fstat(fd, &status) != 0 || status.st_size < 0) return 0;
  return static_cast<std::uint64_t>(status.st_size);
}

}  // namespace

ElfBytes::ElfBytes(UniqueFd fd) : fd_(std::move(fd)), size_bytes_(size_of(fd_.get())) {}

std::vector<std::uint8_t> ElfBytes::read(std::uint64_t offset, std::uint64_t wanted_bytes) const {
  if (offset >= size_bytes_) return {};
  wanted_bytes = std::min(wanted_bytes, size_bytes_ - offset);
  if (wanted_bytes > kMaxReadBytes) return {};
  std::vector<std::uint8_t> bytes(wanted_bytes);
  bytes.resize(read(offset, bytes));
  return bytes;
}

std::size_t ElfBytes::read(std::uint64_t offset, std::span<std::uint8_t> buffer) const {
  if (offset >= size_bytes_) return 0;
  if (!memory_.empty()) {
    const Bytes part = part_of(memory_, offset, buffer.size());
    std::copy(part.begin(), part.end(), buffer.begin());
    return part.size();
  }
  std::size_t done = 0;
  while (done < buffer.size()) {
    const ssize_t got =
        ::pread(fd_.get(), buffer.data() + done, buffer.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

}  // namespace hawk
