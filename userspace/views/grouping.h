#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace hawk {

/// What a row of a report stands for (--by).
enum class GroupKind { kStack, kFunction, kFile, kLine, kModule, kCaller };
inline constexpr std::array<std::string_view, 6> kGroupKindNames = {"stack", "function", "file",
                                                                    "line",  "module",   "caller"};
inline std::string_view group_kind_name(GroupKind kind) { return kGroupKindNames[static_cast<std::size_t>(kind)]; }

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
  std::optional<TreeDirection> tree = {};  ///< nullopt: none
};

}  // namespace hawk
