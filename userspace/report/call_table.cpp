#include "userspace/report/call_table.h"

#include <optional>
#include <utility>

#include "userspace/report/function_numbers.h"
#include "userspace/report/short_name.h"

namespace hawk {
CallTable::CallTable(const Snapshot& snapshot, const std::vector<const StackRecord*>& stacks, Symbolizer& symbolizer,
                     const RoleOfFunction& role_of, const LocationCountObserver& observer,
                     const CallPredicate& is_hidden)
    : ranges_(snapshot.locations.size()) {
  FunctionNumbers numbers;
  const auto add = [&](const Location& location, SourceFrame source) {
    std::string name = short_name(frame_name(location, source, snapshot));
    ListedFrame call = {.location = location, .source = std::move(source), .name = std::move(name)};
    if (is_hidden && is_hidden(call)) return;
    const std::string& function = call.source.function;
    if (role_of && !function.empty()) call.role = role_of(function);
    call.function_number = numbers.number_of(location, function);
    has_interpreted_ = has_interpreted_ || is_interpreted(call);
    calls_.push_back(std::move(call));
  };
  symbolize_locations(snapshot, stacks, symbolizer, observer, [&](LocationId id, std::vector<SourceFrame> sources) {
    Range& range = ranges_[static_cast<std::size_t>(id)];
    range.first = calls_.size();
    for (SourceFrame& source : sources) add(snapshot.location(id), std::move(source));
    range.count = calls_.size() - range.first;
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
  DecidingSearch search;
  const ListedFrame* innermost = nullptr;
  const ListedFrame* found = nullptr;
  std::optional<std::size_t> found_index;
  for (const LocationId location : stack.frames) {
    const Range& range = range_of(location);
    for (std::size_t index = range.first; index < range.first + range.count; ++index) {
      if (innermost == nullptr) innermost = &calls_[index];
      const bool is_over = search.look_at(calls_[index]);
      if (search.found() && search.found() != found_index) found = &calls_[index];
      found_index = search.found();
      if (is_over) return found;
    }
  }
  return found_index ? found : innermost;
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
