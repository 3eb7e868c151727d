#include "userspace/views/target_groups.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <unordered_map>
#include <utility>

namespace hawk {
namespace {

/// What processes of one group have in common.
const std::string& key_of(const TargetInfo& target, GroupKind kind) {
  return kind == GroupKind::kExecutable ? target.exe : target.cgroup;
}

}  // namespace

TargetGroups::TargetGroups(const Snapshot& snapshot, GroupKind kind) : kind_(kind) {
  if (is_of_threads()) {
    add_threads(snapshot);
  } else {
    add_processes(snapshot);
  }
}

void TargetGroups::add_processes(const Snapshot& snapshot) {
  std::unordered_map<std::string, std::size_t> numbers;
  for (const TargetInfo& target : snapshot.targets) {
    std::size_t group = firsts_.size();
    if (kind_ != GroupKind::kProcess) group = numbers.emplace(key_of(target, kind_), group).first->second;
    if (group == firsts_.size()) {
      firsts_.emplace_back(std::shared_ptr<const TargetInfo>(), &target);  // the snapshot's
      counts_.push_back(0);
    }
    ++counts_[group];
    group_of_.push_back(group);
  }
}

void TargetGroups::add_threads(const Snapshot& snapshot) {
  if (!snapshot.threads) return;
  std::map<std::pair<TargetId, int>, std::string> names;
  for (const ThreadName& known : snapshot.threads->names) names[{known.target, known.tid}] = known.name;
  std::map<std::pair<TargetId, std::string>, std::size_t> numbers;
  for (const ThreadShare& share : snapshot.threads->shares) {
    const auto thread = std::pair(share.target, share.tid);
    if (group_of_thread_.contains(thread)) continue;
    const auto known = names.find(thread);
    const std::string name = known != names.end() && !known->second.empty() ? known->second
                             : share.tid == 0                               ? "[thread not known]"
                                                                            : fmt::format("[thread {}]", share.tid);
    const auto [group, is_new] = numbers.emplace(std::pair(share.target, name), firsts_.size());
    if (is_new) {
      const TargetInfo& process = snapshot.targets[static_cast<std::size_t>(share.target)];
      TargetInfo first;
      first.pid = share.tid;
      first.comm = name;
      if (!snapshot.parts.empty()) first.comm += " of " + target_group_name(process, GroupKind::kProcess);
      first.exe = process.exe;
      first.cgroup = process.cgroup;
      firsts_.push_back(std::make_shared<const TargetInfo>(std::move(first)));
      counts_.push_back(0);
    }
    ++counts_[group->second];
    group_of_thread_.emplace(thread, group->second);
  }
}

std::string TargetGroups::target_group_name(const TargetInfo& target, GroupKind kind) {
  if (kind == GroupKind::kCgroup) return target.cgroup.empty() ? "[cgroup not known]" : target.cgroup;
  if (kind == GroupKind::kExecutable) return target.exe.empty() ? "[executable not known]" : target.exe;
  if (kind == GroupKind::kThread) return target.comm;
  return fmt::format("{} (pid {})", target.comm.empty() ? "(unnamed)" : target.comm, target.pid);
}

namespace {

/// Stacks in parts, of which each stack has one for a group at most.
class SplitStacks {
 public:
  explicit SplitStacks(std::size_t groups) : part_of_(groups) {}

  void begin(const StackRecord& stack) {
    stack_ = &stack;
    first_ = parts_.size();
  }

  void add(std::size_t group, TargetId target, const Counters& counters) {
    std::size_t& part = part_of_[group];
    if (part < first_ || part >= parts_.size() || parts_[part].group != group) {
      part = parts_.size();
      parts_.push_back({*stack_, group});
      parts_.back().stack.counters = {};
      parts_.back().stack.target = target;
    }
    parts_[part].stack.counters += counters;
  }

  std::vector<GroupedStack> take() { return std::move(parts_); }

 private:
  std::vector<GroupedStack> parts_;
  std::vector<std::size_t> part_of_;  ///< by group: its last one
  const StackRecord* stack_ = nullptr;
  std::size_t first_ = 0;  ///< of that stack
};

void add_threads_of(SplitStacks& split, StackId stack, const ThreadShares& threads, const TargetGroups& groups) {
  const auto by_stack = [](const ThreadShare& share, StackId id) { return share.stack < id; };
  for (auto share = std::lower_bound(threads.shares.begin(), threads.shares.end(), stack, by_stack);
       share != threads.shares.end() && share->stack == stack; ++share) {
    split.add(groups.group_of(share->target, share->tid), share->target, share->counters);
  }
}

}  // namespace

std::vector<GroupedStack> split_by_group(const std::vector<const StackRecord*>& stacks, const Snapshot& snapshot,
                                         const TargetGroups& groups) {
  SplitStacks split(groups.size());
  for (const StackRecord* stack : stacks) {
    split.begin(*stack);
    if (groups.is_of_threads()) {
      if (snapshot.threads) add_threads_of(split, stack->id, *snapshot.threads, groups);
    } else if (snapshot.parts.empty()) {
      split.add(0, stack->target, stack->counters);
    } else {
      for (const StackShare& share : snapshot.shares_of(stack->id))
        split.add(groups.group_of(share.target), share.target, share.counters);
    }
  }
  return split.take();
}

}  // namespace hawk
