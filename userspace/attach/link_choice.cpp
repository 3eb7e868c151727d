#include "userspace/attach/link_choice.h"

namespace hawk {
namespace {

constexpr std::size_t kFewTargets = 8;

}  // namespace

LinkScope choose_links(const FileUsers& users, const LinkCosts& costs) {
  if (users.targets <= kFewTargets) return LinkScope::kProcess;
  return users.others < most_others_to_count(users.targets, costs) ? LinkScope::kFile : LinkScope::kProcess;
}

std::size_t most_others_to_count(std::size_t targets, const LinkCosts& costs) {
  return targets * targets * costs.link_ns / costs.stranger_ns;
}

bool should_choose_again(std::size_t targets, std::size_t targets_then) {
  return targets > kFewTargets && targets * 4 >= targets_then * 5;
}

}  // namespace hawk
