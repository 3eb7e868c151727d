#include "userspace/commands/offline_symbolizer.h"

#include <utility>

namespace hawk {

bool OfflineSymbolizer::find(ModuleId module) {
  const auto [known, is_new] = found_.emplace(module, false);
  if (!is_new) return known->second;
  ModuleFile file = locator_.locate(module);
  known->second = file.vdso || file.fd;
  if (known->second) symbolizer_.add_module(module, std::move(file));
  return known->second;
}

std::vector<SourceFrame> OfflineSymbolizer::frames(ModuleId module, std::uint64_t module_offset) {
  if (names_.has_modules()) return names_.frames(module, module_offset);
  return find(module) ? symbolizer_.frames(module, module_offset) : std::vector<SourceFrame>{};
}

void OfflineSymbolizer::prepare(ModuleId module, std::span<const std::uint64_t> module_offsets) {
  if (!names_.has_modules() && find(module)) symbolizer_.prepare(module, module_offsets);
}

SymbolSource OfflineSymbolizer::source(ModuleId module) {
  if (names_.has_modules()) return names_.source(module);
  return find(module) ? symbolizer_.source(module) : SymbolSource::kNone;
}

/// Of a module that no name was wanted of nothing is missing.
std::string OfflineSymbolizer::gap(ModuleId module) {
  if (names_.has_modules()) return names_.gap(module);
  if (!found_.contains(module)) return {};
  return find(module) ? symbolizer_.gap(module) : locator_.why_not_found(module);
}

}  // namespace hawk
