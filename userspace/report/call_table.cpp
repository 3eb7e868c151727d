#include "userspace/report/call_table.h"

#include <optional>
#include <utility>

#include "userspace/report/function_numbers.h"
#include "userspace/report/short_name.h"

namespace hawk {
CallTable::CallTable(const Snapshot& snapshot, const std::vector<const StackRecord*>& stacks, Symbolizer& symbolizer,
                     const RoleOfFunction& role_of, const LocationCountObserver& observer)
    : ranges_(snapshot.locations.size()) {
  FunctionNumbers numbers;
  symbolize_locations(snapshot, stacks, symbolizer, observer,
                      [&](LocationId location, std::vector<SourceFrame> sources) {
                        ranges_[static_cast<std::size_t>(location)] = {calls_.size(), sources.size()};
                        for (SourceFrame& source : sources) {
                          const Location& frame = snapshot.location(location);
                          const bool has_role = role_of && !source.function.empty();
                          const FrameRole role = has_role ? role_of(source.function) : FrameRole::kProgram;
                          std::string name = short_name(frame_name(frame, source, snapshot));
                          const std::uint32_t number = numbers.number_of(frame, source.function);
                          calls_.push_back({frame, std::move(source), std::move(name), role, number});
                          has_interpreted_ = has_interpreted_ || is_interpreted(calls_.back());
                        }
                      });
}

FrameList CallTable::list(const StackRecord& stack) const {
  FrameList calls;
  calls.reserve(stack.frames.size() * 2);
  for (const LocationId location : stack.frames) {
    const Range& range = range_of(location);
    for (std::size_t index = 0; index < range.count; ++index) calls.push_back(&calls_[range.first + index]);
  }
  return calls;
}

const ListedFrame* CallTable::deciding(const StackRecord& stack) const {
  if (stack.frames.empty()) return nullptr;
  DecidingSearch search;
  const ListedFrame* found = &calls_[range_of(stack.frames[0]).first];
  std::optional<std::size_t> found_index;
  for (const LocationId location : stack.frames) {
    const Range& range = range_of(location);
    for (std::size_t index = range.first; index < range.first + range.count; ++index) {
      const bool is_over = search.look_at(calls_[index]);
      if (search.found() && search.found() != found_index) found = &calls_[index];
      found_index = search.found();
      if (is_over) return found;
    }
  }
  return found_index ? found : &calls_[range_of(stack.frames[0]).first];
}

const ListedFrame* CallTable::naming(const StackRecord& stack) const {
  if (!has_interpreted_) return deciding(stack);
  const FrameList calls = list(stack);
  return calls.empty() ? nullptr : calls[naming_frame(calls)];
}

std::size_t CallTable::count(const StackRecord& stack, std::size_t locations) const {
  std::size_t calls = 0;
  for (std::size_t index = 0; index < locations; ++index) {
    calls += range_of(stack.frames[index]).count;
  }
  return calls;
}

}  // namespace hawk
