#include "userspace/views/target_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <unordered_map>

namespace hawk {
namespace {

/// What processes of one group have in common.
const std::string& key_of(const TargetInfo& target, GroupKind kind) {
  return kind == GroupKind::kExecutable ? target.exe : target.cgroup;
}

}  // namespace

TargetGroups::TargetGroups(const Snapshot& snapshot, GroupKind kind) : kind_(kind) {
  std::unordered_map<std::string, std::size_t> numbers;
  for (const TargetInfo& target : snapshot.targets) {
    std::size_t group = firsts_.size();
    if (kind != GroupKind::kProcess) group = numbers.emplace(key_of(target, kind), group).first->second;
    if (group == firsts_.size()) {
      firsts_.push_back(&target);
      counts_.push_back(0);
    }
    ++counts_[group];
    group_of_.push_back(group);
  }
}

std::string TargetGroups::target_group_name(const TargetInfo& target, GroupKind kind) {
  if (kind == GroupKind::kCgroup) return target.cgroup.empty() ? "[cgroup not known]" : target.cgroup;
  if (kind == GroupKind::kExecutable) return target.exe.empty() ? "[executable not known]" : target.exe;
  return fmt::format("{} (pid {})", target.comm.empty() ? "(unnamed)" : target.comm, target.pid);
}

std::vector<GroupedStack> split_by_group(const std::vector<const StackRecord*>& stacks, const Snapshot& snapshot,
                                         const TargetGroups& groups) {
  std::vector<GroupedStack> split;
  for (const StackRecord* stack : stacks) {
    if (snapshot.parts.empty()) {
      split.push_back({*stack, 0});
      continue;
    }
    const std::size_t first = split.size();
    for (const StackShare& share : snapshot.shares_of(stack->id)) {
      const std::size_t group = groups.group_of(share.target);
      const auto begin = split.begin() + static_cast<std::ptrdiff_t>(first);
      const auto known =
          groups.size() == snapshot.targets.size()
              ? split.end()
              : std::find_if(begin, split.end(), [group](const GroupedStack& one) { return one.group == group; });
      if (known != split.end()) {
        known->stack.counters += share.counters;
        continue;
      }
      split.push_back({*stack, group});
      split.back().stack.counters = share.counters;
      split.back().stack.target = share.target;
    }
  }
  return split;
}

}  // namespace hawk
