#include "userspace/daemon/target_selector.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "userspace/base/process_file.h"
#include "userspace/base/regular_file.h"
#include "userspace/process/process_fields.h"
#include "userspace/selection/process_search.h"

namespace hawk {
namespace {

constexpr std::uint32_t kRoot = 0;

/// Whether the process is that user's; nullopt: it has ended.
std::optional<bool> belongs_to(int pid, std::uint32_t user) {
  const Result<std::string> status = read_whole_file(fmt::format("/proc/{}/status", pid));
  if (!status) return std::nullopt;
  return leading_number<std::uint32_t>(status_field(*status, "Uid")) == user;
}

}  // namespace

/// Such a file is small.
void TargetSelector::read_pid_file() {
  constexpr std::uint64_t kLargest = 4096;
  const RegularFile file = find_regular_file(pid_file_);
  const bool is_same = file.fd && named_ && named_->file == file.state && named_->changed_ns == file.changed_ns;
  if (is_same) return;
  named_.reset();
  if (!file.fd || file.state.size_bytes > kLargest) return;
  const std::optional<std::string> text = read_to_end(file.fd.get());
  const std::optional<int> pid = text ? leading_number<int>(*text) : std::nullopt;
  if (pid) named_ = NamedProcess{file.state, file.changed_ns, file.owner, *pid, 0};
}

/// A file is left behind when its process is killed, and the number is given to a stranger some day. What a user's file
/// says holds for that user's processes.
void TargetSelector::look_at_named(const std::vector<ProcessFacts>& processes) {
  objection_.clear();
  if (!named_) return;
  const auto found = std::find_if(processes.begin(), processes.end(),
                                  [this](const ProcessFacts& process) { return process.pid == named_->pid; });
  if (found == processes.end()) return;
  if (named_->start_ticks == 0) named_->start_ticks = found->start_ticks;
  if (named_->start_ticks != found->start_ticks) {
    objection_ =
        fmt::format("{} names process {}, which has ended: the number is another one's now", pid_file_, named_->pid);
  } else if (named_->owner != kRoot && belongs_to(named_->pid, named_->owner) == false) {
    objection_ = fmt::format("{} is a file of user {}, and names process {}, which is another user's", pid_file_,
                             named_->owner, named_->pid);
  }
}

void TargetSelector::look(const std::vector<ProcessFacts>& processes, const std::vector<CgroupMount>& mounts,
                          bool may_have_moved) {
  if (!pid_file_.empty()) {
    read_pid_file();
    return look_at_named(processes);
  }
  if (matcher_ && is_complete_ && !may_have_moved) return;
  Result<FoundRules> found = find_rules(query_, processes, mounts, Absent::kLeftOut);
  objection_.clear();
  if (found) {
    is_complete_ = found->is_complete;
    matcher_.emplace(std::move(found->matcher));
    return;
  }
  matcher_.reset();
  if (found.error().exit_code != ExitCode::kNoTarget) objection_ = found.error().what;
}

bool TargetSelector::matches(const ProcessFacts& process) const {
  if (!pid_file_.empty()) {
    return named_ && objection_.empty() && named_->pid == process.pid && named_->start_ticks == process.start_ticks;
  }
  return matcher_ && matcher_->matches(process);
}

}  // namespace hawk
