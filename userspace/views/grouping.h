#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace hawk {

/// What a row of a report stands for (--by).
enum class GroupKind { kStack, kFunction, kFile, kLine, kModule, kCaller, kProcess, kExecutable, kCgroup, kThread };
inline constexpr std::array<std::string_view, 10> kGroupKindNames = {"stack",  "function", "file", "line",   "module",
                                                                     "caller", "process",  "exe",  "cgroup", "thread"};
/// Whether rows stand for processes or threads, and not for calls.
inline bool is_of_targets(GroupKind kind) { return kind >= GroupKind::kProcess; }
inline std::string_view group_kind_name(GroupKind kind) { return kGroupKindNames[static_cast<std::size_t>(kind)]; }
/// The same for people: "function", "process", "executable".
inline std::string_view group_kind_words(GroupKind kind) {
  return kind == GroupKind::kExecutable ? "executable" : group_kind_name(kind);
}

/// Where a tree of calls has its roots (--tree).
enum class TreeDirection {
  kTopDown,   ///< at the outermost calls: who calls whom, down to the functions that allocate
  kBottomUp,  ///< at the functions that allocate: by whom they are called
};
inline constexpr std::array<std::string_view, 2> kTreeDirectionNames = {"top-down", "bottom-up"};
inline std::string_view tree_direction_name(TreeDirection direction) {
  return kTreeDirectionNames[static_cast<std::size_t>(direction)];
}

/// How a report sums up its stacks.
struct Grouping {
  GroupKind by = GroupKind::kStack;
  bool cumulative_first = false;           ///< rows are ordered by what passes through, not by what is their own
  std::optional<TreeDirection> tree = {};  ///< nullopt: none; with is_of_targets(by), a tree for each of those

  /// What processes stacks are split by, as the outermost of their calls; nullopt: they are not.
  std::optional<GroupKind> split_by() const { return is_of_targets(by) ? std::optional(by) : std::nullopt; }
};

}  // namespace hawk
