#include "userspace/attach/perf_map_reader.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string_view>
#include <utility>
#include <vector>

#include "userspace/attach/process_status.h"
#include "userspace/base/log.h"
#include "userspace/base/process_file.h"

namespace hawk {
namespace {

constexpr std::uint64_t kMaxBytes = std::uint64_t{256} << 20;  // of one file, in all
constexpr std::size_t kReadAtOnce = 1 << 20;

}  // namespace

PerfMapReader::PerfMapReader(int proc_pid)
    : proc_pid_(proc_pid),
      root_(::open(fmt::format("/proc/{}/root", proc_pid).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {
  const Result<std::string> status = read_whole_file(fmt::format("/proc/{}/status", proc_pid));
  if (!status) return;
  // The last one is that of the innermost namespace.
  const std::vector<std::uint64_t> group = numbers_in_status(*status, "NStgid");
  if (!group.empty()) path_ = fmt::format("/tmp/perf-{}.map", group.back());
  if (const std::vector<std::uint64_t> users = numbers_in_status(*status, "Uid"); users.size() > 1) user_ = users[1];
}

void PerfMapReader::open_again(PerfMap& map) {
  RegularFile found = find_unlinked_file_below(fmt::format("/proc/self/fd/{}", root_.get()), path_);
  // Of a file system in user space one gets a copy, which does not grow.
  struct stat status = {};
  if (!found.fd || found.original || ::fstat(found.fd.get(), &status) != 0) return;
  if (found.state.file == identity_ && found.state.size_bytes >= read_bytes_) return;
  // Who has become another user since has a status that says so.
  const Result<std::string> process = read_whole_file(fmt::format("/proc/{}/status", proc_pid_));
  if (const auto users = numbers_in_status(process.value_or(""), "Uid"); users.size() > 1) user_ = users[1];
  if (status.st_uid != user_ && status.st_uid != 0) {
    log_verbose(fmt::format("{} is not read: it belongs to user {}, not to the target's", path_, status.st_uid));
    return;
  }
  map.clear();
  file_ = std::move(found.fd);
  identity_ = found.state.file;
  read_bytes_ = 0;
}

void PerfMapReader::refresh(PerfMap& map) {
  if (!root_ || path_.empty()) return;
  open_again(map);
  if (!file_) return;
  std::string text(kReadAtOnce, '\0');
  while (read_bytes_ < kMaxBytes) {
    const ssize_t got = ::pread(file_.get(), text.data(), text.size(), static_cast<off_t>(read_bytes_));
    if (got <= 0) return;
    map.add(std::string_view(text).substr(0, static_cast<std::size_t>(got)));
    read_bytes_ += static_cast<std::uint64_t>(got);
  }
}

}  // namespace hawk
