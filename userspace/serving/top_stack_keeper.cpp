#include "userspace/serving/top_stack_keeper.h"

#include <utility>

namespace hawk {
namespace {

/// Not renewed more often, however often clients ask.
constexpr std::chrono::seconds kRenewEvery{5};

}  // namespace

std::vector<TopStacks> TopStackKeeper::take(std::size_t count) {
  const auto now = std::chrono::steady_clock::now();
  if (working_ == nullptr && now >= next_) {
    next_ = now + kRenewEvery;
    count_ = count;
    renewed_.clear();
    round_.clear();
    for (const ServedTarget& target : targets_.targets()) round_.push_back(target.name);
    renew_next();
  }
  return known_;
}

void TopStackKeeper::renew_next() {
  working_.reset();
  while (!round_.empty() && !work_.is_full()) {
    const std::string target = std::move(round_.front());
    round_.pop_front();
    Result<ServedHeap> heap = targets_.heap(target);
    if (!heap) continue;
    auto of = std::make_shared<ServedHeap>(std::move(*heap));
    auto found = std::make_shared<TopStacks>(TopStacks{target, {}});
    auto work = [of = std::move(of), found, count = count_] {
      found->stacks = top_stacks_of(of->snapshot, *of->symbolizer, count);
    };
    working_ = work_.ask(std::move(work), [this, found](bool is_complete) {
      if (is_complete) renewed_.push_back(std::move(*found));
      renew_next();
    });
    return;
  }
  known_ = std::move(renewed_);
}

}  // namespace hawk
