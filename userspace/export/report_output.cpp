#include "userspace/export/report_output.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/magic.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstring>
#include <utility>

#include "userspace/base/log.h"
#include "userspace/base/system_failure.h"
#include "userspace/base/write_all.h"

namespace hawk {
namespace {

constexpr int kMaxLinks = 40;  // as many as the kernel follows (fs/namei.c: MAXSYMLINKS)

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

bool is_on_procfs(const UniqueFd& directory) {
  struct statfs filesystem = {};
  return ::fstatfs(directory.get(), &filesystem) == 0 && filesystem.f_type == PROC_SUPER_MAGIC;
}

/// Where a file is, or may be made.
struct Destination {
  UniqueFd directory;
  std::string entry;  ///< a name in it, of no symbolic link
  /// The path leads through a link of procfs, as /dev/stdout does: it names an open file, not an entry of a directory,
  /// and to rename something over it would miss that open file.
  bool is_open_file = false;
};

/// Follows the symbolic links at the end of the path. nullopt: errno says why.
std::optional<Destination> find_destination(std::string path) {
  if (path.empty()) errno = ENOENT;
  if (path.empty()) return std::nullopt;
  UniqueFd directory;
  for (int links = 0; links <= kMaxLinks; ++links) {
    const int base = directory ? directory.get() : AT_FDCWD;
    directory = UniqueFd(::openat(base, directory_of(path).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!directory) return std::nullopt;
    std::string entry = path.substr(path.rfind('/') + 1);
    if (entry.empty()) entry = ".";
    if (is_on_procfs(directory)) return Destination{std::move(directory), std::move(entry), true};
    char link[PATH_MAX];
    const ssize_t length = ::readlinkat(directory.get(), entry.c_str(), link, sizeof(link));
    if (length < 0) return Destination{std::move(directory), std::move(entry), false};
    path.assign(link, static_cast<std::size_t>(length));
  }
  errno = ELOOP;
  return std::nullopt;
}

std::string hint_for(int error_number, const std::string& path) {
  switch (error_number) {
    case ENOENT:
      return fmt::format("create the directory first: mkdir -p {}", directory_of(path));
    case EISDIR:
      return "name a file in that directory";
    case ENXIO:
      return fmt::format("start the reader of the pipe first: cat {} &", path);
    case ENOSPC:
    case EDQUOT:
      return "free some space, or choose another path with -o";
    default:
      return "choose another path with -o";
  }
}

/// What has been written next to the file that it is to replace. Removed again unless it does.
class Replacement {
 public:
  /// `like`: the file to replace.
  Replacement(int directory, const struct stat& like) : directory_(directory), like_(like) {}
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;
  ~Replacement() {
    if (exists_) ::unlinkat(directory_, name_.c_str(), 0);
  }

  /// Creates the file, which looks like the one to replace. Each returns 0 or an errno.
  int create() {
    constexpr int kTries = 100;
    constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    for (int i = 0; i < kTries && !file_ && (i == 0 || errno == EEXIST); ++i) {
      std::uint32_t number = 0;
      if (::getrandom(&number, sizeof(number), 0) < 0) return errno;
      name_ = fmt::format(".hawktrace.{:08x}", number);
      file_ = UniqueFd(::openat(directory_, name_.c_str(), kFlags, 0600));
    }
    if (!file_) return errno;
    exists_ = true;
    const bool alike =
        ::fchown(file_.get(), like_.st_uid, like_.st_gid) == 0 && ::fchmod(file_.get(), like_.st_mode & 07777) == 0;
    return alike ? 0 : errno;
  }
  int append(std::string_view piece) { return write_all(file_.get(), piece); }
  /// A file system may report a full disk or an exhausted quota only here.
  int close() { return ::close(file_.release()) == 0 ? 0 : errno; }
  int rename_to(const std::string& entry) {
    if (::renameat(directory_, name_.c_str(), directory_, entry.c_str()) != 0) return errno;
    exists_ = false;
    return 0;
  }
  bool exists() const { return exists_; }

 private:
  int directory_;
  std::string name_;
  struct stat like_;
  UniqueFd file_;
  bool exists_ = false;
};

/// Errors of creating or renaming that say: not at this destination. The file itself may still be writable.
bool is_about_the_directory(int error_number) {
  return error_number == EACCES || error_number == EPERM || error_number == EROFS || error_number == EBUSY ||
         error_number == EXDEV;
}

bool is_same_file(const struct stat& a, const struct stat& b) { return a.st_dev == b.st_dev && a.st_ino == b.st_ino; }

/// Opens what is there already, or else creates it; says which. O_CREAT is kept off files that exist: in a directory
/// like /tmp it makes the kernel refuse another user's file even to root (fs.protected_regular). O_NONBLOCK keeps a
/// FIFO from waiting for its reader.
UniqueFd open_or_create(const Destination& destination, bool& created) {
  constexpr mode_t kMode = 0666;  // less umask
  constexpr int kTries = 100;     // another process may create and remove it repeatedly
  const int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | (destination.is_open_file ? 0 : O_NOFOLLOW);
  created = false;
  UniqueFd file;
  for (int i = 0; i < kTries && !file && (i == 0 || errno == EEXIST); ++i) {
    file = UniqueFd(::openat(destination.directory.get(), destination.entry.c_str(), flags));
    if (file || errno != ENOENT) break;
    file = UniqueFd(::openat(destination.directory.get(), destination.entry.c_str(), flags | O_CREAT | O_EXCL, kMode));
    created = static_cast<bool>(file);
  }
  if (file) ::fcntl(file.get(), F_SETFL, 0);
  return file;
}

}  // namespace

Result<ReportOutput> ReportOutput::make(const std::optional<std::string>& path) {
  return !path || *path == "-" ? make_stdout() : make_file(*path);
}

Result<ReportOutput> ReportOutput::make_stdout() {
  ReportOutput output(Kind::kStdout, "stdout");
  const int flags = ::fcntl(STDOUT_FILENO, F_GETFL);
  const bool is_writable = flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
  if (!is_writable) return output.failed("write to", EBADF);
  return output;
}

Result<ReportOutput> ReportOutput::make_file(const std::string& path) {
  ReportOutput output(Kind::kEntry, path);
  std::optional<Destination> destination = find_destination(path);
  struct stat file = {};
  if (destination) output.file_ = open_or_create(*destination, output.created_);
  if (!output.file_ || ::fstat(output.file_.get(), &file) != 0) return output.failed("open for writing", errno);
  output.directory_ = std::move(destination->directory);
  output.entry_ = std::move(destination->entry);
  if (S_ISREG(file.st_mode) && !destination->is_open_file) return output;

  output.kind_ = Kind::kOpenFile;
  struct stat standard_output = {};
  if (::fstat(STDOUT_FILENO, &standard_output) == 0 && is_same_file(file, standard_output)) {
    output.kind_ = Kind::kStdout;
  } else if (S_ISREG(file.st_mode)) {
    ::fcntl(output.file_.get(), F_SETFL, O_APPEND);
  }
  return output;
}

ReportOutput::~ReportOutput() {
  if (!file_ || !created_) return;
  struct stat ours = {};
  struct stat there = {};
  const bool is_ours = ::fstat(file_.get(), &ours) == 0 &&
                       ::fstatat(directory_.get(), entry_.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0 &&
                       is_same_file(ours, there);
  if (is_ours) ::unlinkat(directory_.get(), entry_.c_str(), 0);
}

Result<void> ReportOutput::write(std::string_view report) {
  return write([&](const TextSink& sink) { sink(report); });
}

Result<void> ReportOutput::write(const ReportProducer& produce) {
  if (kind_ == Kind::kEntry) {
    if (HAWK_TRY(try_replace(produce))) return {};
    if (::ftruncate(file_.get(), 0) != 0) return failed("empty", errno);
  }
  HAWK_TRY_VOID(write_to_open_file(produce));
  return {};
}

Result<bool> ReportOutput::write_next(const ReportProducer& produce) {
  if (kind_ == Kind::kEntry) {
    if (::ftruncate(file_.get(), 0) != 0) return failed("empty", errno);
    ::fcntl(file_.get(), F_SETFL, O_APPEND);
    kind_ = Kind::kOpenFile;
  }
  return write_to_open_file(produce);
}

/// False: the reader is gone.
Result<bool> ReportOutput::write_to_open_file(const ReportProducer& produce) {
  int error_number = 0;
  produce([&](std::string_view piece) {
    error_number = write_all(is_stdout() ? STDOUT_FILENO : file_.get(), piece);
    return error_number == 0;
  });
  if (error_number == 0) {
    created_ = false;
    return true;
  }
  if (error_number == EPIPE && is_stdout()) return false;
  return failed("write the report to", error_number);
}

/// False when the file cannot be renamed over and must be written directly.
Result<bool> ReportOutput::try_replace(const ReportProducer& produce) {
  struct stat file = {};
  if (::fstat(file_.get(), &file) != 0) return failed("examine", errno);
  Replacement replacement(directory_.get(), file);
  int create_error = 0;
  int write_error = 0;
  produce([&](std::string_view piece) {
    // No sooner: what comes before the first piece takes time, and a signal that ends us in it shall leave no debris.
    if (!replacement.exists() && create_error == 0) create_error = replacement.create();
    if (create_error == 0) write_error = replacement.append(piece);
    return create_error == 0 && write_error == 0;
  });
  if (create_error != 0) {
    if (is_about_the_directory(create_error)) return false;
    return failed("create a temporary file next to", create_error);
  }
  const int close_error = replacement.close();
  if (write_error == 0) write_error = close_error;
  const int rename_error = write_error == 0 ? replacement.rename_to(entry_) : 0;
  if (is_about_the_directory(rename_error)) return false;
  if (write_error != 0 || rename_error != 0) {
    return failed("write the report to", write_error != 0 ? write_error : rename_error);
  }
  created_ = false;
  warn_if_moved();
  return true;
}

/// The directory was renamed, or a link on its path was changed, since the trace began.
void ReportOutput::warn_if_moved() const {
  const std::optional<Destination> now = find_destination(name_);
  struct stat before = {};
  struct stat after = {};
  const bool is_there = now && ::fstat(directory_.get(), &before) == 0 && ::fstat(now->directory.get(), &after) == 0 &&
                        is_same_file(before, after) && now->entry == entry_;
  if (is_there) return;
  log_warning(fmt::format(
      "{} now refers to another file: the report is in the one that it referred to when the trace began", name_));
}

bool ReportOutput::is_terminal() const { return ::isatty(is_stdout() ? STDOUT_FILENO : file_.get()) == 1; }

tl::unexpected<Error> ReportOutput::failed(std::string_view doing, int error_number) const {
  return system_failure(ExitCode::kFile, fmt::format("{} {}", doing, name_), error_number,
                        hint_for(error_number, name_));
}

}  // namespace hawk
