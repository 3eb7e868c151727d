#include "userspace/attach/perf_map_finder.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>
#include <vector>

#include "userspace/attach/process_status.h"
#include "userspace/base/log.h"
#include "userspace/base/process_file.h"

namespace hawk {
PerfMapFinder::PerfMapFinder(int proc_pid)
    : proc_pid_(proc_pid),
      root_(::open(fmt::format("/proc/{}/root", proc_pid).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {
  const Result<std::string> status = read_whole_file(fmt::format("/proc/{}/status", proc_pid));
  if (!status) return;
  // The last one is that of the innermost namespace.
  const std::vector<std::uint64_t> group = numbers_in_status(*status, "NStgid");
  if (!group.empty()) path_ = fmt::format("/tmp/perf-{}.map", group.back());
  if (const std::vector<std::uint64_t> users = numbers_in_status(*status, "Uid"); users.size() > 1) user_ = users[1];
}

void PerfMapFinder::refresh(ConfinedSymbolizer& symbolizer) {
  if (!root_ || path_.empty()) return;
  RegularFile found = find_unlinked_file_below(fmt::format("/proc/self/fd/{}", root_.get()), path_);
  // Of a file system in user space one gets a copy, which does not grow.
  struct stat status = {};
  if (!found.fd || found.original || ::fstat(found.fd.get(), &status) != 0) return;
  const std::uint64_t known_bytes = size_bytes_;
  if (found.state.file == identity_ && found.state.size_bytes >= known_bytes) {
    size_bytes_ = found.state.size_bytes;
    if (size_bytes_ > known_bytes) symbolizer.perf_map_grew();
    return;
  }
  // A process that has changed its user since then shows that in its status.
  const Result<std::string> process = read_whole_file(fmt::format("/proc/{}/status", proc_pid_));
  if (const auto users = numbers_in_status(process.value_or(""), "Uid"); users.size() > 1) user_ = users[1];
  if (status.st_uid != user_ && status.st_uid != 0) {
    log_verbose(fmt::format("{} is not read: it is owned by user {}, not by the target's user", path_, status.st_uid));
    return;
  }
  identity_ = found.state.file;
  size_bytes_ = found.state.size_bytes;
  symbolizer.use_perf_map(std::move(found.fd));
}

}  // namespace hawk
