#include "userspace/report/repeated_calls.h"

#include <algorithm>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>

namespace hawk {
namespace {

constexpr std::size_t kMaxPeriod = 32;  // functions of a cycle
constexpr std::size_t kMinSaved = 2;    // lines: a, b, a, b is as easy to read as what would say so

bool are_same(const ShownFrame& inner, const ShownFrame& outer) {
  if (inner.frame == nullptr || outer.frame == nullptr) {
    return inner.frame == outer.frame && inner.why == outer.why && inner.left_out_count == outer.left_out_count;
  }
  return inner.times == outer.times && is_recursion(*inner.frame, *outer.frame);
}

/// Different lines seldom have the same one, equal lines always do. Cheap: stacks without a repetition, nearly all,
/// cost no comparison.
std::size_t key_of(const ShownFrame& line) {
  if (line.frame == nullptr) return 0;
  const std::string& name = line.frame->source.function;
  if (name.empty()) return static_cast<std::size_t>(line.frame->location.address);
  const auto at = [&](std::size_t index) { return std::size_t{static_cast<unsigned char>(name[index])}; };
  return name.size() + 37 * at(name.size() - 1) + 1543 * at(name.size() / 2) + 59 * at(name.size() / 4);
}

using Keys = std::vector<std::uint32_t>;

Keys keys_of(const std::vector<ShownFrame>& shown) {
  Keys keys;
  keys.reserve(shown.size());
  for (const ShownFrame& line : shown) keys.push_back(static_cast<std::uint32_t>(key_of(line)));
  return keys;
}

/// Whether a key occurs more than once; true also for some that do not.
bool may_repeat(const Keys& keys) {
  std::bitset<2048> seen;
  return std::any_of(keys.begin(), keys.end(), [&](std::uint32_t key) {
    const std::size_t bit = key % seen.size();
    const bool is_known = seen[bit];
    seen.set(bit);
    return is_known;
  });
}

/// How often the `period` lines from `first` on stand there one after the other.
std::size_t count_rounds(const std::vector<ShownFrame>& shown, std::size_t first, std::size_t period) {
  std::size_t next = first + period;
  while (next < shown.size() && are_same(shown[next - period], shown[next])) ++next;
  return (next - first) / period;
}

struct Cycle {
  std::size_t period = 0;  ///< 0: there is none
  std::size_t rounds = 0;
};

Cycle find_cycle(const std::vector<ShownFrame>& shown, const Keys& keys, std::size_t first) {
  if (shown[first].frame == nullptr) return {};
  const std::size_t longest = std::min(kMaxPeriod, (shown.size() - first) / 2);
  for (std::size_t period = 2; period <= longest; ++period) {
    if (keys[first] != keys[first + period]) continue;
    const std::size_t rounds = count_rounds(shown, first, period);
    if (rounds >= 2 && (rounds - 1) * period > kMinSaved) return {period, rounds};
  }
  return {};
}

ShownFrame line_of(const std::vector<ShownFrame>& shown, std::size_t first, const Cycle& cycle) {
  ShownFrame line{.times = cycle.rounds, .why = LeftOut::kRepeated, .lines = cycle.period};
  for (std::size_t index = first + cycle.period; index < first + cycle.rounds * cycle.period; ++index) {
    line.left_out_count += shown[index].frame != nullptr ? shown[index].times : shown[index].left_out_count;
  }
  return line;
}

}  // namespace

void collapse_repeated_calls(std::vector<ShownFrame>& shown) {
  const Keys keys = keys_of(shown);
  if (!may_repeat(keys)) return;
  std::size_t end = 0;  // of what is kept: at most as much as was looked at
  for (std::size_t index = 0; index < shown.size();) {
    const Cycle cycle = find_cycle(shown, keys, index);
    if (cycle.period == 0) {
      shown[end++] = shown[index++];
      continue;
    }
    const ShownFrame line = line_of(shown, index, cycle);
    for (std::size_t offset = 0; offset < cycle.period; ++offset) shown[end++] = shown[index + offset];
    shown[end++] = line;
    index += cycle.rounds * cycle.period;
  }
  shown.resize(end);
}

}  // namespace hawk
