#include "userspace/report/call_table.h"

#include <utility>

namespace hawk {

CallTable::CallTable(const Snapshot& snapshot, const std::vector<const StackRecord*>& stacks, Symbolizer& symbolizer,
                     const PlumbingPredicate& is_plumbing, const PlaceCountObserver& observer)
    : ranges_(snapshot.places.size()) {
  symbolize_places(snapshot, stacks, symbolizer, observer, [&](PlaceId place, std::vector<SourceFrame> sources) {
    ranges_[static_cast<std::size_t>(place)] = {calls_.size(), sources.size()};
    for (SourceFrame& source : sources) {
      const bool plumbing = is_plumbing && !source.function.empty() && is_plumbing(source.function);
      calls_.push_back({snapshot.place(place), std::move(source), plumbing});
    }
  });
}

FrameList CallTable::list(const StackRecord& stack) const {
  FrameList calls;
  calls.reserve(stack.frames.size() * 2);
  for (const PlaceId place : stack.frames) {
    const Range& range = ranges_[static_cast<std::size_t>(place)];
    for (std::size_t index = 0; index < range.count; ++index) calls.push_back(&calls_[range.first + index]);
  }
  return calls;
}

}  // namespace hawk
