#include "userspace/attach/link_choice.h"

namespace hawk {
namespace {

/// The cost of a malloc and free of a target for the links of another one, and of an untraced process, in nanoseconds:
/// only the ratio matters. Measured on Linux 6.18 (scripts/bench --rows targets).
constexpr std::size_t kLinkNs = 105;
constexpr std::size_t kStrangerNs = 1300;

constexpr std::size_t kFewTargets = 8;

}  // namespace

LinkScope choose_links(const FileUsers& users) {
  if (users.targets <= kFewTargets) return LinkScope::kProcess;
  return users.others < most_others_to_count(users.targets) ? LinkScope::kFile : LinkScope::kProcess;
}

std::size_t most_others_to_count(std::size_t targets) { return targets * targets * kLinkNs / kStrangerNs; }

}  // namespace hawk
