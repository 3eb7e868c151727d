#include "userspace/report/stack_differences.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

namespace hawk {
namespace {

constexpr std::string_view kCaller = " < ";
constexpr std::string_view kFurtherOut = " < … ";

/// How much of a call is looked at.
enum class Detail { kFunction, kLine, kAddress };

/// The compared part of a call; members that are not compared are empty. Ordered, for maps.
using CallKey = std::tuple<std::string_view, std::string, std::uint64_t>;

CallKey key_of(const ListedFrame* call, Detail detail) {
  if (call == nullptr) return {"(no further frame)", "", 0};
  return {call->name, detail == Detail::kFunction ? "" : source_position(call->source, 1),
          detail == Detail::kAddress ? call->location.address : 0};
}

std::string position_of(const CallKey& key) {
  const auto& [name, position, address] = key;
  if (address == 0) return position;
  return fmt::format("{}{}{:#x}", position, position.empty() ? "" : " ", address);
}

std::string text_of(const CallKey& key) {
  const std::string position = position_of(key);
  return std::string(std::get<0>(key)) + (position.empty() ? "" : " " + position);
}

/// `frames` from the naming one on, without what is folded: the frames of allocators and libraries, and the further
/// calls of a recursion.
FrameList visible_calls(const FrameList& frames) {
  const std::size_t naming = naming_frame(frames);
  if (frames.empty() || frames[naming]->is_foldable()) return frames;
  FrameList visible;
  for (std::size_t index = naming; index < frames.size(); ++index) {
    const ListedFrame* const frame = frames[index];
    const bool is_repeated = !visible.empty() && is_recursion(*visible.back(), *frame);
    if (!frame->is_foldable() && !is_repeated) visible.push_back(frame);
  }
  return visible;
}

class Differences {
 public:
  Differences(const std::vector<FrameList>& stacks, std::size_t most_calls)
      : stacks_(stacks), most_calls_(most_calls), found_(stacks.size()) {}

  std::vector<std::string> find() {
    std::vector<std::size_t> all(stacks_.size());
    std::iota(all.begin(), all.end(), 0);
    split(all, 0, 0);
    return std::move(found_);
  }

 private:
  using Rows = std::vector<std::size_t>;
  const ListedFrame* call(std::size_t row, std::size_t depth) const {
    return depth < stacks_[row].size() ? stacks_[row][depth] : nullptr;
  }
  bool differ(const Rows& rows, std::size_t depth, Detail detail) const {
    const ListedFrame* const first = call(rows.front(), depth);
    return std::any_of(rows.begin(), rows.end(), [&](std::size_t row) {
      const ListedFrame* const other = call(row, depth);
      return other != first && key_of(other, detail) != key_of(first, detail);
    });
  }
  std::optional<std::pair<std::size_t, Detail>> first_difference(const Rows& rows, std::size_t from) const;
  void split(const Rows& rows, std::size_t from, std::size_t calls);

  const std::vector<FrameList>& stacks_;
  std::size_t most_calls_;
  std::vector<std::string> found_;
};

/// A function or line further out is more informative than a nearby address.
std::optional<std::pair<std::size_t, Detail>> Differences::first_difference(const Rows& rows, std::size_t from) const {
  std::size_t deepest = 0;
  for (const std::size_t row : rows) deepest = std::max(deepest, stacks_[row].size());
  for (std::size_t depth = from; depth < deepest; ++depth) {
    for (const Detail detail : {Detail::kFunction, Detail::kLine}) {
      if (differ(rows, depth, detail)) return std::pair(depth, detail);
    }
  }
  for (std::size_t depth = from; depth < deepest; ++depth) {
    if (differ(rows, depth, Detail::kAddress)) return std::pair(depth, Detail::kAddress);
  }
  return std::nullopt;
}

/// Splits the rows at the first call, `from` or further out, in which not all of them are equal, and each part again.
void Differences::split(const Rows& rows, std::size_t from, std::size_t calls) {
  if (rows.size() < 2 || calls == most_calls_) return;
  const auto difference = first_difference(rows, from);
  if (!difference) return;
  const auto& [depth, detail] = *difference;
  std::map<CallKey, Rows> parts;
  for (const std::size_t row : rows) parts[key_of(call(row, depth), detail)].push_back(row);
  for (const auto& [key, part] : parts) {
    const bool is_itself = depth == 0 && detail != Detail::kFunction;
    const std::string text = is_itself ? "  " + position_of(key)
                                       : std::string(depth == 1 && calls == 0 ? kCaller : kFurtherOut) + text_of(key);
    for (const std::size_t row : part) found_[row] += text;
    split(part, depth, calls + 1);
  }
}

}  // namespace

std::vector<std::string> distinguish_stacks(const std::vector<FrameList>& stacks, std::size_t most_calls) {
  std::vector<FrameList> visible;
  visible.reserve(stacks.size());
  std::transform(stacks.begin(), stacks.end(), std::back_inserter(visible), visible_calls);
  std::vector<std::string> found = Differences(visible, most_calls).find();
  for (std::size_t index = 0; index < stacks.size(); ++index) {
    const FrameList& frames = stacks[index];
    const std::size_t deciding = deciding_frame(frames);
    const bool is_interpreted = deciding != naming_frame(frames);
    if (found[index].empty() && is_interpreted) found[index] = fmt::format(" ({})", frames[deciding]->name);
  }
  return found;
}

}  // namespace hawk
