#include "userspace/traces/recorded_state.h"

#include "userspace/report/symbolized_locations.h"

namespace hawk {

RecordedState RecordedStates::next(const Snapshot& snapshot, ProcessTrace& trace) {
  RecordedState state = {.snapshot = snapshot};
  for (const MappedCode& code : trace.code()) {
    // Of a mapping that was made since the snapshot, the next one knows the module.
    if (static_cast<std::size_t>(code.module) >= snapshot.modules.size()) continue;
    state.mappings.push_back({code.module, code.start, code.end, code.file_offset});
  }
  Symbolizer& symbolizer = trace.symbolizer();
  add_names_in_no_file(snapshot, symbolizer, state);
  if (!symbols_) return state;
  add_names(snapshot, symbolizer, state);
  add_modules(symbolizer, state);
  return state;
}

/// Such code may be replaced by other code at the same address: the last known name is used, as in a live report.
void RecordedStates::add_names_in_no_file(const Snapshot& snapshot, Symbolizer& symbolizer, RecordedState& state) {
  for (const Location& location : snapshot.locations) {
    if (location.module) continue;
    for (const std::uint64_t address : {location.address, location.address + (location.interrupted ? 1 : 0)}) {
      std::vector<SourceFrame> frames = symbolizer.frames_in_no_file(address);
      std::vector<SourceFrame>& known = in_no_file_[address];
      if (frames == known) continue;
      known = frames;
      state.names.push_back({std::nullopt, address, std::move(frames)});
    }
  }
}

void RecordedStates::add_names(const Snapshot& snapshot, Symbolizer& symbolizer, RecordedState& state) {
  std::map<ModuleId, std::vector<std::uint64_t>> wanted;
  const std::vector<char> trampolines = find_trampolines(snapshot);
  for (std::size_t number = 0; number < snapshot.locations.size(); ++number) {
    const Location& location = snapshot.locations[number];
    if (!location.module) continue;
    const bool is_trampoline = !trampolines.empty() && trampolines[number] != 0;
    const std::uint64_t offset = is_trampoline ? trampoline_offset(location) : location.symbol_offset();
    if (named_[*location.module].insert(offset).second) wanted[*location.module].push_back(offset);
  }
  for (auto& [module, offsets] : wanted) {
    symbolizer.prepare(module, offsets);
    for (const std::uint64_t offset : offsets) {
      state.names.push_back({module, offset, symbolizer.frames(module, offset)});
    }
  }
}

void RecordedStates::add_modules(Symbolizer& symbolizer, RecordedState& state) {
  for (const auto& [module, offsets] : named_) {
    NamedModule named = {module, symbolizer.source(module), symbolizer.gap(module)};
    const auto [known, is_new] = modules_.emplace(module, named);
    if (!is_new && known->second == named) continue;
    known->second = named;
    state.modules.push_back(std::move(named));
  }
}

}  // namespace hawk
