#include "userspace/views/target_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

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
      firsts_.push_back(std::make_shared<const TargetInfo>(
          TargetInfo{.pid = share.tid, .comm = name, .exe = process.exe, .cgroup = process.cgroup}));
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

/// Adds a part to those of the stack, which begin at `first`. Returns whether it is the first of its group.
bool add_part(std::vector<GroupedStack>& split, std::size_t first, const StackRecord& stack, std::size_t group,
              const Counters& counters) {
  const auto begin = split.begin() + static_cast<std::ptrdiff_t>(first);
  const auto known = std::find_if(begin, split.end(), [group](const GroupedStack& one) { return one.group == group; });
  if (known != split.end()) {
    known->stack.counters += counters;
    return false;
  }
  split.push_back({stack, group});
  split.back().stack.counters = counters;
  return true;
}

void split_by_thread(std::vector<GroupedStack>& split, const StackRecord& stack, const ThreadShares& threads,
                     const TargetGroups& groups) {
  const std::size_t first = split.size();
  const auto by_stack = [](const ThreadShare& share, StackId id) { return share.stack < id; };
  for (auto share = std::lower_bound(threads.shares.begin(), threads.shares.end(), stack.id, by_stack);
       share != threads.shares.end() && share->stack == stack.id; ++share) {
    add_part(split, first, stack, groups.group_of(share->target, share->tid), share->counters);
  }
}

}  // namespace

std::vector<GroupedStack> split_by_group(const std::vector<const StackRecord*>& stacks, const Snapshot& snapshot,
                                         const TargetGroups& groups) {
  std::vector<GroupedStack> split;
  for (const StackRecord* stack : stacks) {
    if (groups.is_of_threads()) {
      if (snapshot.threads) split_by_thread(split, *stack, *snapshot.threads, groups);
      continue;
    }
    if (snapshot.parts.empty()) {
      split.push_back({*stack, 0});
      continue;
    }
    const std::size_t first = split.size();
    for (const StackShare& share : snapshot.shares_of(stack->id)) {
      // Where each process is a group, each share is one of its own.
      const std::size_t begin = groups.size() == snapshot.targets.size() ? split.size() : first;
      if (add_part(split, begin, *stack, groups.group_of(share.target), share.counters))
        split.back().stack.target = share.target;
    }
  }
  return split;
}

}  // namespace hawk
