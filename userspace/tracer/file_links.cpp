#include "userspace/tracer/file_links.h"

#include <bpf/libbpf.h>
#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

#include "userspace/base/system_failure.h"
#include "userspace/base/threads.h"
#include "userspace/tracer/monotonic_time.h"

namespace hawk {
namespace {

void add_use(std::vector<FileLinks::Use>& uses, FileLinks::Use link) {
  if (std::find(uses.begin(), uses.end(), link) == uses.end()) uses.push_back(std::move(link));
}

}  // namespace

Result<void> FileLinks::require_same_content(const File& file, const Content& content) const {
  const auto first = known_.lower_bound({file, 0, std::numeric_limits<int>::min()});
  for (auto known = first; known != known_.end() && std::get<File>(known->first) == file; ++known) {
    if (!known->second.link.expired() && known->second.content != content)
      return fail(ExitCode::kPrivilege,
                  "the file was written to, and other processes are traced with its previous contents");
  }
  return {};
}

Result<std::vector<FileLinks::Use>> FileLinks::add(bpf_program* program, int fd, const std::vector<Probe>& probes) {
  struct stat status = {};
  if (::fstat(fd, &status) != 0) return system_failure(ExitCode::kPrivilege, "identify the file to probe", errno);
  const File file(status.st_dev, status.st_ino);
  const Content content = {status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
  HAWK_TRY_VOID(require_same_content(file, content));
  const int program_fd = bpf_program__fd(program);
  std::vector<Use> uses;
  std::vector<Probe> missing;
  for (const Probe& probe : probes) {
    const auto known = known_.find({file, probe.file_offset, program_fd});
    Use link = known != known_.end() ? known->second.link.lock() : nullptr;
    if (!link) {
      missing.push_back(probe);
    } else if (known->second.cookie == probe.cookie) {
      add_use(uses, std::move(link));
    } else {
      return fail(ExitCode::kPrivilege,
                  fmt::format("the instruction at {:#x} is already probed as a different one", probe.file_offset));
    }
  }
  if (missing.empty()) return uses;
  const auto link = std::make_shared<Link>();
  link->fd = HAWK_TRY(make_multi_link({.program_fd = program_fd,
                                       .attach_type = bpf_program__expected_attach_type(program),
                                       .path = fmt::format("/proc/self/fd/{}", fd),
                                       .probes = missing}));
  link->made_ns = now_ns();
  // A service is replaced by new files again and again.
  std::erase_if(known_, [](const auto& known) { return known.second.link.expired(); });
  for (const Probe& probe : missing)
    known_[{file, probe.file_offset, program_fd}] = {.content = content, .cookie = probe.cookie, .link = link};
  add_use(uses, link);
  return uses;
}

void FileLinks::remove_all() {
  std::vector<Use> links;
  for (const auto& [key, known] : known_) {
    if (Use link = known.link.lock()) add_use(links, std::move(link));
  }
  known_.clear();
  for_each_at_once(links, [](const Use& link) { const UniqueFd closed = std::move(link->fd); });
}

}  // namespace hawk
