#include "userspace/daemon/target_selector.h"

#include <utility>

#include "userspace/base/process_file.h"
#include "userspace/base/regular_file.h"
#include "userspace/process/process_fields.h"
#include "userspace/selection/process_search.h"

namespace hawk {
namespace {

/// Such a file is small, and its owner another than ours.
std::optional<int> number_in_file(const std::string& path) {
  constexpr std::uint64_t kLargest = 4096;
  const UniqueFd fd = open_regular_file(path);
  const std::optional<FileState> state = fd ? state_of(fd) : std::nullopt;
  if (!state || state->size_bytes > kLargest) return std::nullopt;
  const std::optional<std::string> text = read_to_end(fd.get());
  return text ? leading_number<int>(*text) : std::nullopt;
}

}  // namespace

void TargetSelector::look(const std::vector<ProcessFacts>& processes, const std::vector<CgroupMount>& mounts,
                          bool may_have_moved) {
  if (!pid_file_.empty()) {
    pid_ = number_in_file(pid_file_);
    return;
  }
  if (matcher_ && !may_have_moved) return;
  Result<FoundRules> found = find_rules(query_, processes, mounts);
  objection_.clear();
  if (found) {
    matcher_.emplace(std::move(found->matcher));
    return;
  }
  matcher_.reset();
  if (found.error().exit_code != ExitCode::kNoTarget) objection_ = found.error().what;
}

bool TargetSelector::matches(const ProcessFacts& process) const {
  if (!pid_file_.empty()) return pid_ == process.pid;
  return matcher_ && matcher_->matches(process);
}

}  // namespace hawk
