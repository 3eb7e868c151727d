#include "userspace/export/loaded_modules.h"

#include <algorithm>

namespace hawk {
namespace {

constexpr std::uint64_t kPageBytes = 4096;

std::uint64_t page_of(std::uint64_t address) { return address & ~(kPageBytes - 1); }

}  // namespace

LoadedModules::LoadedModules(const ExportedStacks& stacks) {
  const Snapshot& snapshot = stacks.snapshot();
  for (const LocationId id : stacks.locations()) {
    const Location& location = snapshot.location(id);
    if (!location.module) continue;
    const std::uint64_t page = page_of(call_address(location));
    const auto [entry, is_new] = indexes_.emplace(key_of(location), modules_.size());
    if (is_new) modules_.push_back({*location.module, entry->first.second, page, page + kPageBytes});
    LoadedModule& module = modules_[entry->second];
    module.start = std::min(module.start, page);
    module.limit = std::max(module.limit, page + kPageBytes);
  }
  const auto is_program = [&](const LoadedModule& mapped) {
    const Module* module = find_module(snapshot, mapped.module);
    return module != nullptr && module->path == snapshot.target().exe;
  };
  std::sort(modules_.begin(), modules_.end(), [&](const LoadedModule& a, const LoadedModule& b) {
    return is_program(a) != is_program(b) ? is_program(a) : a.start < b.start;
  });
  for (std::size_t index = 0; index < modules_.size(); ++index) {
    indexes_[{modules_[index].module, modules_[index].bias}] = index;
  }
}

}  // namespace hawk
