#include "userspace/base/regular_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "userspace/base/file_system_answers.h"

namespace hawk {
namespace {

constexpr int kFindFlags = O_PATH | O_CLOEXEC;
/// O_NONBLOCK: a leased file is refused at once.
constexpr int kReadFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

/// Cached data of the file: a file system in user space might never answer.
std::optional<struct statx> examine(int directory, const char* path) {
  struct statx found = {};
  constexpr unsigned kWanted = STATX_TYPE | STATX_INO | STATX_SIZE | STATX_MTIME | STATX_CTIME | STATX_UID;
  const int flags = (*path == '\0' ? AT_EMPTY_PATH : 0) | AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT;
  if (::statx(directory, path, flags, kWanted, &found) != 0) return std::nullopt;
  return found;
}

std::int64_t ns_of(const statx_timestamp& time) {
  constexpr std::int64_t kNsPerSecond = 1'000'000'000;
  return time.tv_sec * kNsPerSecond + static_cast<std::int64_t>(time.tv_nsec);
}

std::optional<FileState> state_in(const std::optional<struct statx>& found) {
  if (!found) return std::nullopt;
  return FileState{.file = {.device = ::makedev(found->stx_dev_major, found->stx_dev_minor), .inode = found->stx_ino},
                   .size_bytes = found->stx_size,
                   .modified_ns = ns_of(found->stx_mtime)};
}

/// Opens the file that was found for reading: it cannot be a different one any more.
RegularFile open_found(UniqueFd found) {
  if (!found) return {};
  const std::optional<struct statx> status = examine(found.get(), "");
  if (!status) return {};
  if (!S_ISREG(status->stx_mode)) {
    errno = EINVAL;
    return {};
  }
  RegularFile file;
  file.state = *state_in(status);
  file.changed_ns = ns_of(status->stx_ctime);
  file.owner = status->stx_uid;
  switch (reader_of(found.get(), file.state.file.device, file.fd)) {
    case ReadBy::kKernel:
      file.fd = UniqueFd(::open(fmt::format("/proc/self/fd/{}", found.get()).c_str(), kReadFlags));
      break;
    case ReadBy::kCopier:
      file.original = std::move(found);
      break;
    case ReadBy::kNone:
      break;
  }
  return file;
}

}  // namespace

RegularFile find_regular_file(const std::string& path) {
  return open_found(UniqueFd(::open(path.c_str(), kFindFlags)));
}

UniqueFd open_regular_file(const std::string& path) { return std::move(find_regular_file(path).fd); }

UniqueFd open_regular_file_below(const std::string& root, const std::string& path) {
  return std::move(find_regular_file_below(root, path).fd);
}

namespace {

RegularFile find_below(const std::string& root, const std::string& path, std::uint64_t more_flags) {
  UniqueFd directory;
  if (!root.empty()) {
    directory = UniqueFd(::open(root.c_str(), kFindFlags | O_DIRECTORY));
    if (!directory) return {};
  }
  open_how how{};
  how.flags = kFindFlags | more_flags;
  how.resolve = RESOLVE_NO_MAGICLINKS | (directory ? RESOLVE_IN_ROOT : 0);
  return open_found(UniqueFd(static_cast<int>(
      ::syscall(SYS_openat2, directory ? directory.get() : AT_FDCWD, path.c_str(), &how, sizeof(how)))));
}

}  // namespace

RegularFile find_regular_file_below(const std::string& root, const std::string& path) {
  return find_below(root, path, 0);
}

RegularFile find_unlinked_file_below(const std::string& root, const std::string& path) {
  return find_below(root, path, O_NOFOLLOW);
}

std::optional<FileState> state_of(const UniqueFd& fd) { return state_in(examine(fd.get(), "")); }

std::optional<FileState> state_of(const std::string& path) { return state_in(examine(AT_FDCWD, path.c_str())); }

}  // namespace hawk
