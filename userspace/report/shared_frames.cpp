#include "userspace/report/shared_frames.h"

namespace hawk {
namespace {

/// More than displayed stacks have; a table that exceeds the processor's cache takes several times as long.
constexpr std::size_t kMaxNodes = std::size_t{1} << 15;

}  // namespace

SharedFrames::Shared SharedFrames::add(std::size_t rank, const StackFrames& frames) {
  if (first_ranks_.size() >= kMaxNodes) *this = {};  // what follows shares among itself
  Shared shared;
  Node node{0};
  for (std::size_t index = frames.size(); index-- > 0;) {
    const std::uint64_t edge =
        std::uint64_t{static_cast<std::uint32_t>(node)} << 32U | static_cast<std::uint32_t>(frames[index]);
    bool is_new = false;
    node = children_.find_or_add(edge, [&] {
      is_new = true;
      return static_cast<Node>(first_ranks_.size());
    });
    if (is_new) {
      first_ranks_.push_back(static_cast<std::uint32_t>(rank));
    } else {
      shared = {.rank = first_ranks_[static_cast<std::size_t>(node)], .locations = frames.size() - index};
    }
  }
  return shared;
}

}  // namespace hawk
