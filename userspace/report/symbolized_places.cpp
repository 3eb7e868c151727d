#include "userspace/report/symbolized_places.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

namespace hawk {
namespace {

std::vector<PlaceId> distinct_places(const Snapshot& snapshot, const std::vector<const StackRecord*>& stacks) {
  std::vector<char> wanted(snapshot.places.size());
  for (const StackRecord* stack : stacks) {
    for (const PlaceId place : stack->frames) wanted[static_cast<std::size_t>(place)] = 1;
  }
  std::vector<PlaceId> places;
  for (std::size_t number = 0; number < wanted.size(); ++number) {
    if (wanted[number] != 0) places.push_back(static_cast<PlaceId>(number));
  }
  std::sort(places.begin(), places.end(), [&](PlaceId a, PlaceId b) {
    const Frame& frame_a = snapshot.place(a);
    const Frame& frame_b = snapshot.place(b);
    return frame_a.module != frame_b.module ? frame_a.module < frame_b.module
                                            : frame_a.symbol_offset() < frame_b.symbol_offset();
  });
  return places;
}

/// Looked up together: enough to share what they need of the debug information, few enough to see progress.
constexpr std::size_t kPreparedTogether = 2000;

/// Announces the places from `first` on, as far as they are of one module. Returns the first one that is not announced.
std::size_t prepare_from(const Snapshot& snapshot, const std::vector<PlaceId>& places, std::size_t first,
                         Symbolizer& symbolizer) {
  const std::optional<ModuleId> module = snapshot.place(places[first]).module;
  std::vector<std::uint64_t> offsets;
  std::size_t end = first;
  while (end < places.size() && offsets.size() < kPreparedTogether && snapshot.place(places[end]).module == module) {
    offsets.push_back(snapshot.place(places[end]).symbol_offset());
    ++end;
  }
  if (module) symbolizer.prepare(*module, offsets);
  return end;
}

}  // namespace

void symbolize_places(const Snapshot& snapshot, const std::vector<const StackRecord*>& stacks, Symbolizer& symbolizer,
                      const PlaceCountObserver& observer, const PlaceConsumer& consumer) {
  const std::vector<PlaceId> places = distinct_places(snapshot, stacks);
  if (observer) {
    const auto is_asked = [&](PlaceId place) { return snapshot.place(place).module.has_value(); };
    observer(static_cast<std::size_t>(std::count_if(places.begin(), places.end(), is_asked)));
  }
  std::size_t prepared = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const PlaceId id = places[i];
    const Frame& place = snapshot.place(id);
    if (i == prepared) prepared = prepare_from(snapshot, places, i, symbolizer);
    std::vector<SourceFrame> sources;
    if (place.module) sources = symbolizer.frames(*place.module, place.symbol_offset());
    if (sources.empty()) sources.emplace_back();
    consumer(id, std::move(sources));
  }
}

}  // namespace hawk
