#include "userspace/report/symbolized_places.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

namespace hawk {
namespace {

/// What the frame that the kernel puts between a signal handler and what it interrupted is called where its file has no
/// name for it: debuggers show the same. It is no sign of missing symbols.
constexpr const char* kTrampolineName = "<signal handler called>";

/// Whether a place is the signal trampoline, by PlaceId: a frame that a signal interrupted lies behind it. No call
/// returns there, so that no other stack has it elsewhere. Empty when no stack was interrupted.
std::vector<char> find_trampolines(const Snapshot& snapshot, const std::vector<const StackRecord*>& stacks) {
  const auto is_interrupted = [](const Frame& place) { return place.interrupted; };
  if (std::none_of(snapshot.places.begin(), snapshot.places.end(), is_interrupted)) return {};
  std::vector<char> trampolines(snapshot.places.size());
  for (const StackRecord* stack : stacks) {
    for (std::size_t i = 1; i < stack->frames.size(); ++i) {
      if (snapshot.place(stack->frames[i]).interrupted) trampolines[static_cast<std::size_t>(stack->frames[i - 1])] = 1;
    }
  }
  return trampolines;
}

/// The places that some stacks pass through, and how to ask for each.
class AskedPlaces {
 public:
  AskedPlaces(const Snapshot& snapshot, const std::vector<const StackRecord*>& stacks)
      : snapshot_(snapshot), trampolines_(find_trampolines(snapshot, stacks)) {
    std::vector<char> wanted(snapshot.places.size());
    for (const StackRecord* stack : stacks) {
      for (const PlaceId place : stack->frames) wanted[static_cast<std::size_t>(place)] = 1;
    }
    for (std::size_t number = 0; number < wanted.size(); ++number) {
      if (wanted[number] != 0) places_.push_back(static_cast<PlaceId>(number));
    }
    std::sort(places_.begin(), places_.end(), [&](PlaceId a, PlaceId b) {
      const Frame& frame_a = snapshot.place(a);
      const Frame& frame_b = snapshot.place(b);
      return frame_a.module != frame_b.module ? frame_a.module < frame_b.module : offset_of(a) < offset_of(b);
    });
  }

  /// By module, in the order of its offsets.
  const std::vector<PlaceId>& places() const { return places_; }
  bool is_trampoline(PlaceId id) const {
    return !trampolines_.empty() && trampolines_[static_cast<std::size_t>(id)] != 0;
  }
  /// By which a Symbolizer finds the place. The trampoline is entered at its first instruction, which no call is
  /// before.
  std::uint64_t offset_of(PlaceId id) const {
    const Frame& place = snapshot_.place(id);
    return is_trampoline(id) ? place.module_offset + 1 : place.symbol_offset();
  }

 private:
  const Snapshot& snapshot_;
  const std::vector<char> trampolines_;
  std::vector<PlaceId> places_;
};

/// Looked up together: enough to share what they need of the debug information, few enough to see progress.
constexpr std::size_t kPreparedTogether = 2000;

/// Announces the places from `first` on, as far as they are of one module. Returns the first one that is not announced.
std::size_t prepare_from(const Snapshot& snapshot, const AskedPlaces& asked, std::size_t first,
                         Symbolizer& symbolizer) {
  const std::vector<PlaceId>& places = asked.places();
  const std::optional<ModuleId> module = snapshot.place(places[first]).module;
  std::vector<std::uint64_t> offsets;
  std::size_t end = first;
  while (end < places.size() && offsets.size() < kPreparedTogether && snapshot.place(places[end]).module == module) {
    offsets.push_back(asked.offset_of(places[end]));
    ++end;
  }
  if (module) symbolizer.prepare(*module, offsets);
  return end;
}

}  // namespace

void symbolize_places(const Snapshot& snapshot, const std::vector<const StackRecord*>& stacks, Symbolizer& symbolizer,
                      const PlaceCountObserver& observer, const PlaceConsumer& consumer) {
  const AskedPlaces asked(snapshot, stacks);
  const std::vector<PlaceId>& places = asked.places();
  if (observer) {
    const auto is_asked = [&](PlaceId place) { return snapshot.place(place).module.has_value(); };
    observer(static_cast<std::size_t>(std::count_if(places.begin(), places.end(), is_asked)));
  }
  std::size_t prepared = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const PlaceId id = places[i];
    const Frame& place = snapshot.place(id);
    if (i == prepared) prepared = prepare_from(snapshot, asked, i, symbolizer);
    std::vector<SourceFrame> sources;
    if (place.module) {
      sources = symbolizer.frames(*place.module, asked.offset_of(id));
    } else {
      sources = symbolizer.frames_in_no_file(place.address + (place.interrupted ? 1 : 0));
    }
    if (sources.empty()) sources.emplace_back().function = asked.is_trampoline(id) ? kTrampolineName : "";
    consumer(id, std::move(sources));
  }
}

}  // namespace hawk
