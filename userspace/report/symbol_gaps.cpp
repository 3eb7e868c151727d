#include "userspace/report/symbol_gaps.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "userspace/report/display_text.h"

namespace hawk {
namespace {

/// Adds to each gap without symbols the bytes of every stack of the snapshot that passes through its module.
void add_all_stacks(std::vector<SymbolGap>& gaps, const Snapshot& snapshot, Quantity quantity) {
  std::map<ModuleId, std::size_t> gap_of_module;
  for (std::size_t index = 0; index < gaps.size(); ++index) {
    if (gaps[index].no_symbols) gap_of_module.emplace(gaps[index].module, index);
  }
  if (gap_of_module.empty()) return;
  std::vector<std::optional<std::size_t>> gap_of_location(snapshot.locations.size());
  for (std::size_t location = 0; location < gap_of_location.size(); ++location) {
    const std::optional<ModuleId>& module = snapshot.locations[location].module;
    const auto gap = module ? gap_of_module.find(*module) : gap_of_module.end();
    if (gap != gap_of_module.end()) gap_of_location[location] = gap->second;
  }
  std::vector<const StackRecord*> last_stack(gaps.size());
  for (const StackRecord& stack : snapshot.stacks) {
    for (const LocationId location : stack.frames) {
      const std::optional<std::size_t>& gap = gap_of_location[static_cast<std::size_t>(location)];
      if (!gap || last_stack[*gap] == &stack) continue;
      last_stack[*gap] = &stack;
      gaps[*gap].affected_bytes += bytes_of(stack.counters, quantity);
    }
  }
}

}  // namespace

void SymbolGaps::add(const StackRecord& stack, const FrameList& frames) {
  ++added_;
  for (const ListedFrame* frame : frames) {
    if (frame->location.module && frame->location.module != last_module_) {
      last_module_ = frame->location.module;
      shown_modules_.insert(*last_module_);
    }
    if (!frame->source.function.empty()) continue;
    Nameless& nameless = frame->location.module ? nameless_[*frame->location.module] : in_no_file_;
    if (nameless.last_stack == added_) continue;
    nameless.last_stack = added_;
    nameless.shown_bytes += bytes_of(stack.counters, quantity_);
  }
}

std::vector<SymbolGap> SymbolGaps::gaps(const Snapshot& snapshot, Symbolizer& symbolizer) const {
  std::vector<SymbolGap> gaps;
  for (const auto& [module, nameless] : nameless_) {
    const bool no_symbols = symbolizer.source(module) == SymbolSource::kNone;
    gaps.push_back({module, no_symbols, no_symbols ? 0 : nameless.shown_bytes, symbolizer.gap(module)});
  }
  for (const ModuleId module : shown_modules_) {
    const std::string cause = nameless_.contains(module) ? std::string() : symbolizer.gap(module);
    if (!cause.empty()) gaps.push_back({module, false, 0, cause});
  }
  add_all_stacks(gaps, snapshot, quantity_);
  std::sort(gaps.begin(), gaps.end(), [](const SymbolGap& a, const SymbolGap& b) {
    return a.affected_bytes != b.affected_bytes ? a.affected_bytes > b.affected_bytes : a.module < b.module;
  });
  return gaps;
}

bool has_nameless_code_in_no_file(const Snapshot& snapshot, Symbolizer& symbolizer) {
  return std::any_of(snapshot.locations.begin(), snapshot.locations.end(), [&](const Location& location) {
    return !location.module && symbolizer.frames_in_no_file(location.address).empty();
  });
}

std::string gap_text(const SymbolGap& gap, const Module& module, const std::string& share) {
  const std::string path = printable(module.path);
  const std::string build_id = module.build_id.empty() ? "no build id" : "build id " + module.build_id;
  if (gap.no_symbols) {
    return fmt::format("  {}: {}; {} pass through it ({})", path, gap.cause.empty() ? "no symbols" : gap.cause, share,
                       build_id);
  }
  if (!gap.cause.empty()) return fmt::format("  {}: {} ({})", path, gap.cause, build_id);
  return fmt::format("  {}: some functions have no name; the stacks above that pass through them hold {} ({})", path,
                     share, build_id);
}

}  // namespace hawk
