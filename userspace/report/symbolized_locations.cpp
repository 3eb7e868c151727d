#include "userspace/report/symbolized_locations.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

namespace hawk {
namespace {

/// The name of the frame that the kernel puts between a signal handler and the interrupted code, if its file has none:
/// the same as in debuggers. It does not indicate missing symbols.
constexpr const char* kTrampolineName = "<signal handler called>";

/// The locations in some stacks, and how to look up each.
class AskedLocations {
 public:
  AskedLocations(const Snapshot& snapshot, const std::vector<const StackRecord*>& stacks)
      : snapshot_(snapshot), trampolines_(find_trampolines(snapshot)) {
    std::vector<char> wanted(snapshot.locations.size());
    for (const StackRecord* stack : stacks) {
      for (const LocationId location : stack->frames) wanted[static_cast<std::size_t>(location)] = 1;
    }
    for (std::size_t number = 0; number < wanted.size(); ++number) {
      if (wanted[number] != 0) locations_.push_back(static_cast<LocationId>(number));
    }
    std::sort(locations_.begin(), locations_.end(), [&](LocationId a, LocationId b) {
      const Location& frame_a = snapshot.location(a);
      const Location& frame_b = snapshot.location(b);
      return frame_a.module != frame_b.module ? frame_a.module < frame_b.module : offset_of(a) < offset_of(b);
    });
  }

  /// By module, in the order of its offsets.
  const std::vector<LocationId>& locations() const { return locations_; }
  bool is_trampoline(LocationId id) const {
    return !trampolines_.empty() && trampolines_[static_cast<std::size_t>(id)] != 0;
  }
  /// The number by which a Symbolizer looks up the location: its address, if it is outside files.
  std::uint64_t offset_of(LocationId id) const {
    const Location& location = snapshot_.location(id);
    if (!location.module) return location.address + (location.interrupted ? 1 : 0);
    return is_trampoline(id) ? trampoline_offset(location) : location.symbol_offset();
  }

 private:
  const Snapshot& snapshot_;
  const std::vector<char> trampolines_;
  std::vector<LocationId> locations_;
};

/// The number looked up together: enough to share debug information, few enough to show progress.
constexpr std::size_t kPreparedTogether = 2000;

/// Announces the locations from `first` on, as far as they are of one module. Returns the first one that is not
/// announced.
std::size_t prepare_from(const Snapshot& snapshot, const AskedLocations& asked, std::size_t first,
                         Symbolizer& symbolizer) {
  const std::vector<LocationId>& locations = asked.locations();
  const std::optional<ModuleId> module = snapshot.location(locations[first]).module;
  std::vector<std::uint64_t> offsets;
  std::size_t end = first;
  while (end < locations.size() && offsets.size() < kPreparedTogether &&
         snapshot.location(locations[end]).module == module) {
    offsets.push_back(asked.offset_of(locations[end]));
    ++end;
  }
  if (module) symbolizer.prepare(*module, offsets);
  if (!module) symbolizer.prepare_in_no_file(offsets);
  return end;
}

}  // namespace

std::vector<char> find_trampolines(const Snapshot& snapshot) {
  const auto is_interrupted = [](const Location& location) { return location.interrupted; };
  if (std::none_of(snapshot.locations.begin(), snapshot.locations.end(), is_interrupted)) return {};
  std::vector<char> trampolines(snapshot.locations.size());
  for (const StackRecord& stack : snapshot.stacks) {
    for (std::size_t i = 1; i < stack.frames.size(); ++i) {
      if (snapshot.location(stack.frames[i]).interrupted)
        trampolines[static_cast<std::size_t>(stack.frames[i - 1])] = 1;
    }
  }
  return trampolines;
}

void symbolize_locations(const Snapshot& snapshot, const std::vector<const StackRecord*>& stacks,
                         Symbolizer& symbolizer, const LocationCountObserver& observer,
                         const LocationConsumer& consumer) {
  const AskedLocations asked(snapshot, stacks);
  const std::vector<LocationId>& locations = asked.locations();
  if (observer) {
    const auto is_asked = [&](LocationId location) { return snapshot.location(location).module.has_value(); };
    observer(static_cast<std::size_t>(std::count_if(locations.begin(), locations.end(), is_asked)));
  }
  std::size_t prepared = 0;
  for (std::size_t i = 0; i < locations.size(); ++i) {
    const LocationId id = locations[i];
    const Location& location = snapshot.location(id);
    if (i == prepared) prepared = prepare_from(snapshot, asked, i, symbolizer);
    std::vector<SourceFrame> sources;
    if (location.module) {
      sources = symbolizer.frames(*location.module, asked.offset_of(id));
    } else {
      sources = symbolizer.frames_in_no_file(asked.offset_of(id));
    }
    if (sources.empty()) sources.emplace_back().function = asked.is_trampoline(id) ? kTrampolineName : "";
    consumer(id, std::move(sources));
  }
}

}  // namespace hawk
