#include "userspace/report/symbol_gaps.h"

#include <algorithm>
#include <set>

namespace hawk {
namespace {

std::uint64_t bytes_through(const Snapshot& snapshot, ModuleId module, Quantity quantity) {
  std::uint64_t bytes = 0;
  for (const StackRecord& stack : snapshot.stacks) {
    const bool passes = std::any_of(stack.frames.begin(), stack.frames.end(),
                                    [&](const Frame& frame) { return frame.module == module; });
    if (passes) bytes += bytes_of(stack.counters, quantity);
  }
  return bytes;
}

}  // namespace

void SymbolGaps::add(const StackRecord& stack, const std::vector<ListedFrame>& frames) {
  std::set<ModuleId> modules;
  for (const ListedFrame& frame : frames) {
    if (frame.place.module && frame.source.function.empty()) modules.insert(*frame.place.module);
  }
  for (const ModuleId module : modules) nameless_.push_back({module, bytes_of(stack.counters, quantity_)});
}

std::vector<SymbolGap> SymbolGaps::gaps(const Snapshot& snapshot, Symbolizer& symbolizer) const {
  std::vector<SymbolGap> gaps;
  for (const Nameless& nameless : nameless_) {
    auto gap = std::find_if(gaps.begin(), gaps.end(),
                            [&](const SymbolGap& candidate) { return candidate.module == nameless.module; });
    if (gap == gaps.end()) gap = gaps.insert(gaps.end(), SymbolGap{nameless.module, false, 0});
    gap->affected_bytes += nameless.shown_bytes;
  }
  for (SymbolGap& gap : gaps) {
    gap.no_symbols = symbolizer.source(gap.module) == SymbolSource::kNone;
    if (gap.no_symbols) gap.affected_bytes = bytes_through(snapshot, gap.module, quantity_);
  }
  std::sort(gaps.begin(), gaps.end(), [](const SymbolGap& a, const SymbolGap& b) {
    return a.affected_bytes != b.affected_bytes ? a.affected_bytes > b.affected_bytes : a.module < b.module;
  });
  return gaps;
}

}  // namespace hawk
