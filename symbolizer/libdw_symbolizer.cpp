#include "symbolizer/libdw_symbolizer.h"

#include <utility>

namespace hawk {
namespace {

/// For the debug information of all modules that are open: most of it is sections that had to be decompressed.
constexpr std::size_t kOpenBudgetBytes = std::size_t{128} << 20;

}  // namespace

std::unique_ptr<LibdwSymbolizer> LibdwSymbolizer::make() {
  return std::unique_ptr<LibdwSymbolizer>(new LibdwSymbolizer());
}

void LibdwSymbolizer::add_module(ModuleId module, ModuleFile file) {
  const auto replaced = modules_.find(module);
  if (replaced != modules_.end()) std::erase(open_, replaced->second.get());
  modules_.insert_or_assign(module, std::make_unique<ModuleSymbols>(std::move(file)));
}

void LibdwSymbolizer::close_files(ModuleId module) {
  const auto found = modules_.find(module);
  if (found == modules_.end()) return;
  std::erase(open_, found->second.get());
  found->second->close_files();
}

std::vector<SourceFrame> LibdwSymbolizer::frames(ModuleId module, std::uint64_t module_offset) {
  const auto found = modules_.find(module);
  if (found == modules_.end()) return {};
  const bool is_known = found->second->knows(module_offset);
  std::vector<SourceFrame> frames = found->second->frames(module_offset);
  if (!is_known) limit_memory(found->second.get());
  return frames;
}

void LibdwSymbolizer::prepare(ModuleId module, std::span<const std::uint64_t> module_offsets) {
  const auto found = modules_.find(module);
  if (found == modules_.end()) return;
  found->second->prepare(module_offsets);
  limit_memory(found->second.get());
}

void LibdwSymbolizer::limit_memory(ModuleSymbols* asked) {
  if (open_.empty() || open_.back() != asked) {
    std::erase(open_, asked);
    open_.push_back(asked);
  }
  std::size_t bytes = 0;
  for (ModuleSymbols* module : open_) bytes += module->open_bytes();
  while (bytes > kOpenBudgetBytes && open_.size() > 1) {
    bytes -= open_.front()->open_bytes();
    open_.front()->close();
    open_.erase(open_.begin());
  }
}

SymbolSource LibdwSymbolizer::source(ModuleId module) {
  const auto found = modules_.find(module);
  if (found == modules_.end()) return SymbolSource::kNone;
  const SymbolSource source = found->second->source();
  limit_memory(found->second.get());
  return source;
}

std::string LibdwSymbolizer::gap(ModuleId module) {
  const auto found = modules_.find(module);
  return found == modules_.end() ? std::string() : found->second->gap();
}

}  // namespace hawk
