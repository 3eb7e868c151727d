#include "userspace/recording/recorded_mappings.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace hawk::recording {
namespace {

using Mappings = std::vector<MappedStack>;

auto key_of(const MappedStack& mapped) { return std::tuple(mapped.stack.id, mapped.kind, mapped.origin); }
bool is_before(const MappedStack& a, const MappedStack& b) { return key_of(a) < key_of(b); }

bool is_same_stack(const MappedStack& a, const MappedStack& b) {
  return a.stack.target == b.stack.target && a.stack.end == b.stack.end && a.stack.guessed == b.stack.guessed &&
         a.stack.frames == b.stack.frames;
}

/// nullptr: there is none of that stack, kind and origin.
const MappedStack* find(const Mappings& mappings, const MappedStack& like) {
  const auto at = std::lower_bound(mappings.begin(), mappings.end(), like, is_before);
  return at != mappings.end() && key_of(*at) == key_of(like) ? &*at : nullptr;
}

/// Whether all that there was is there still: no program has replaced another.
bool continues(const Mappings& before, const Mappings& now) {
  return std::all_of(before.begin(), before.end(), [&](const MappedStack& mapped) {
    const MappedStack* const known = find(now, mapped);
    return known != nullptr && is_same_stack(*known, mapped);
  });
}

void put_stack(ByteWriter& bytes, const StackRecord& stack) {
  bytes.number(static_cast<std::uint64_t>(stack.target));
  bytes.number(stack.end);
  bytes.flag(stack.guessed);
  bytes.number(stack.frames.size());
  std::uint64_t last = 0;
  for (const LocationId frame : stack.frames) {
    bytes.difference(static_cast<std::uint64_t>(frame) - last);
    last = static_cast<std::uint64_t>(frame);
  }
}

void take_stack(ByteReader& bytes, const Snapshot& snapshot, const std::vector<hawk_end>& ends, StackRecord& stack) {
  stack.target = static_cast<TargetId>(bytes.number_below(snapshot.targets.size()));
  const std::uint64_t end = bytes.number_below(ends.size());
  if (bytes.is_good()) stack.end = ends[end];
  bytes.flag(stack.guessed);
  std::vector<LocationId> frames(bytes.count(sizeof(LocationId)));
  std::uint64_t last = 0;
  for (LocationId& frame : frames) {
    last += bytes.difference();
    if (last >= snapshot.locations.size()) last = bytes.fail();
    frame = static_cast<LocationId>(last);
  }
  stack.frames = StackFrames(std::move(frames));
}

/// Each number as the difference to what it was.
template <class Bytes, class Of>
void counter_fields(Bytes& bytes, Of& counters, const RegionCounters& before) {
  for (const auto number : {&RegionCounters::mapped_bytes, &RegionCounters::mapped_count,
                            &RegionCounters::unmapped_bytes, &RegionCounters::regions}) {
    if constexpr (Bytes::kReads) {
      counters.*number = before.*number + bytes.difference();
    } else {
      bytes.difference(counters.*number - before.*number);
    }
  }
}

/// Whether there are such numbers, each and in sum.
bool are_sound(const Mappings& mappings) {
  RegionCounters sum;
  return std::all_of(mappings.begin(), mappings.end(), [&](const MappedStack& mapped) {
    return mapped.counters.unmapped_bytes <= mapped.counters.mapped_bytes && add(sum, mapped.counters);
  });
}

}  // namespace

std::string mapping_changes(const Snapshot& now, const Snapshot& before) {
  if (!now.mappings) return {};
  const bool is_first = !before.mappings;
  const bool begins_anew = !is_first && !continues(*before.mappings, *now.mappings);
  const Mappings known = is_first || begins_anew ? Mappings() : *before.mappings;
  ByteWriter changes;
  std::uint64_t count = 0;
  for (const MappedStack& mapped : *now.mappings) {
    const MappedStack* const earlier = find(known, mapped);
    const RegionCounters counters = earlier != nullptr ? earlier->counters : RegionCounters();
    if (earlier != nullptr && counters == mapped.counters) continue;
    ++count;
    changes.number(static_cast<std::uint64_t>(mapped.stack.id));
    changes.number(static_cast<std::uint64_t>(mapped.kind));
    changes.number(static_cast<std::uint64_t>(mapped.origin));
    if (earlier == nullptr) put_stack(changes, mapped.stack);
    counter_fields(changes, mapped.counters, counters);
  }
  if (!is_first && !begins_anew && count == 0) return {};
  ByteWriter bytes;
  bytes.flag(begins_anew);
  bytes.number(count);
  bytes.raw(changes.bytes());
  return bytes.bytes();
}

void take_mapping_changes(ByteReader& bytes, Snapshot& snapshot, const std::vector<hawk_end>& ends) {
  if (!snapshot.mappings) snapshot.mappings.emplace();
  Mappings& mappings = *snapshot.mappings;
  bool begins_anew = false;
  bytes.flag(begins_anew);
  if (begins_anew) mappings.clear();
  Mappings added;
  for (std::uint64_t left = bytes.count(0); left > 0 && bytes.is_good(); --left) {
    MappedStack mapped;
    mapped.stack.id = static_cast<StackId>(bytes.number_below(std::uint64_t{1} << 32));
    mapped.kind = static_cast<RegionKind>(bytes.number_below(kRegionKinds));
    mapped.origin = static_cast<RegionOrigin>(bytes.number_below(kRegionOrigins));
    const auto known = std::lower_bound(mappings.begin(), mappings.end(), mapped, is_before);
    if (known != mappings.end() && key_of(*known) == key_of(mapped)) {
      counter_fields(bytes, known->counters, known->counters);
      continue;
    }
    if (!bytes.spend(sizeof(MappedStack))) return;
    take_stack(bytes, snapshot, ends, mapped.stack);
    counter_fields(bytes, mapped.counters, {});
    added.push_back(std::move(mapped));
  }
  const auto count = static_cast<std::ptrdiff_t>(mappings.size());
  mappings.insert(mappings.end(), std::make_move_iterator(added.begin()), std::make_move_iterator(added.end()));
  std::sort(mappings.begin() + count, mappings.end(), is_before);
  std::inplace_merge(mappings.begin(), mappings.begin() + count, mappings.end(), is_before);
  const auto is_not_before = [](const MappedStack& a, const MappedStack& b) { return !is_before(a, b); };
  if (std::adjacent_find(mappings.begin(), mappings.end(), is_not_before) != mappings.end() || !are_sound(mappings))
    bytes.fail();
}

}  // namespace hawk::recording
