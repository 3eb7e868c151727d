#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "userspace/tables/snapshot.h"
#include "userspace/views/grouping.h"

namespace hawk {

/// The processes of a snapshot by what they are summed up by: each by itself, or those of one executable or cgroup; or
/// its threads, of which those of a process that have the same name are one group.
class TargetGroups {
 public:
  /// `kind`: see is_of_targets(). `snapshot` must outlive this.
  TargetGroups(const Snapshot& snapshot, GroupKind kind);

  std::size_t size() const { return firsts_.size(); }
  std::size_t group_of(TargetId target) const { return group_of_[static_cast<std::size_t>(target)]; }
  /// The first process of a group.
  const TargetInfo& first(std::size_t group) const { return *firsts_[group]; }
  /// The same, to be kept; a thread's has its name and number.
  std::shared_ptr<const TargetInfo> shared_first(std::size_t group) const { return firsts_[group]; }
  /// Of a thread that the snapshot tells apart.
  std::size_t group_of(TargetId target, int tid) const { return group_of_thread_.at({target, tid}); }
  bool is_of_threads() const { return kind_ == GroupKind::kThread; }
  /// How many processes, or threads, there are in it.
  std::size_t process_count(std::size_t group) const { return counts_[group]; }
  /// "shop (pid 42)", "/usr/bin/shop", "/system.slice/shop.service".
  std::string name(std::size_t group) const { return target_group_name(first(group), kind_); }

  static std::string target_group_name(const TargetInfo& target, GroupKind kind);

 private:
  void add_processes(const Snapshot& snapshot);
  void add_threads(const Snapshot& snapshot);

  GroupKind kind_;
  std::vector<std::shared_ptr<const TargetInfo>> firsts_;
  std::vector<std::size_t> counts_;
  std::vector<std::size_t> group_of_;  ///< by TargetId
  std::map<std::pair<TargetId, int>, std::size_t> group_of_thread_;
};

/// What of a stack is of the processes of one group.
struct GroupedStack {
  StackRecord stack;  ///< with the counters of these processes alone
  std::size_t group = 0;
};

/// Splits stacks by groups, in their order.
std::vector<GroupedStack> split_by_group(const std::vector<const StackRecord*>& stacks, const Snapshot& snapshot,
                                         const TargetGroups& groups);

}  // namespace hawk
