#include "symbolizer/libdw_symbolizer.h"

#include <utility>

namespace hawk {

std::unique_ptr<LibdwSymbolizer> LibdwSymbolizer::make() {
  return std::unique_ptr<LibdwSymbolizer>(new LibdwSymbolizer());
}

void LibdwSymbolizer::add_module(ModuleId module, ModuleFile file) {
  modules_.insert_or_assign(module, std::make_unique<ModuleSymbols>(std::move(file)));
}

std::vector<SourceFrame> LibdwSymbolizer::frames(ModuleId module, std::uint64_t module_offset) {
  const auto found = modules_.find(module);
  if (found == modules_.end()) return {};
  return found->second->frames(module_offset);
}

void LibdwSymbolizer::prepare(ModuleId module, std::span<const std::uint64_t> module_offsets) {
  const auto found = modules_.find(module);
  if (found != modules_.end()) found->second->prepare(module_offsets);
}

SymbolSource LibdwSymbolizer::source(ModuleId module) {
  const auto found = modules_.find(module);
  return found == modules_.end() ? SymbolSource::kNone : found->second->source();
}

}  // namespace hawk
