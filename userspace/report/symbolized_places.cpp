#include "userspace/report/symbolized_places.h"

#include <algorithm>
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
                                            : frame_a.module_offset < frame_b.module_offset;
  });
  return places;
}

}  // namespace

void symbolize_places(const Snapshot& snapshot, const std::vector<const StackRecord*>& stacks, Symbolizer& symbolizer,
                      const PlaceCountObserver& observer, const PlaceConsumer& consumer) {
  const std::vector<PlaceId> places = distinct_places(snapshot, stacks);
  if (observer) {
    const auto is_asked = [&](PlaceId place) { return snapshot.place(place).module.has_value(); };
    observer(static_cast<std::size_t>(std::count_if(places.begin(), places.end(), is_asked)));
  }
  for (const PlaceId id : places) {
    const Frame& place = snapshot.place(id);
    std::vector<SourceFrame> sources;
    if (place.module) sources = symbolizer.frames(*place.module, place.module_offset);
    if (sources.empty()) sources.emplace_back();
    consumer(id, std::move(sources));
  }
}

}  // namespace hawk
