#include "userspace/traces/merged_symbolizer.h"

#include <map>
#include <utility>

namespace hawk {

std::vector<SourceFrame> MergedSymbolizer::frames(ModuleId module, std::uint64_t module_offset) {
  return parts_(origin(module).part).frames(origin(module).module, module_offset);
}

std::vector<SourceFrame> MergedSymbolizer::frames_in_no_file(std::uint64_t address) {
  std::vector<SourceFrame> found;
  bool is_first = true;
  for (const std::size_t part : numbers_.parts_at(address)) {
    std::vector<SourceFrame> frames = parts_(part).frames_in_no_file(address);
    if (std::exchange(is_first, false)) {
      found = std::move(frames);
    } else if (frames != found) {
      return {};
    }
  }
  return found;
}

void MergedSymbolizer::prepare_in_no_file(std::span<const std::uint64_t> addresses) {
  std::map<std::size_t, std::vector<std::uint64_t>> of_parts;
  for (const std::uint64_t address : addresses) {
    for (const std::size_t part : numbers_.parts_at(address)) of_parts[part].push_back(address);
  }
  for (const auto& [part, wanted] : of_parts) parts_(part).prepare_in_no_file(wanted);
}

void MergedSymbolizer::prepare(ModuleId module, std::span<const std::uint64_t> module_offsets) {
  parts_(origin(module).part).prepare(origin(module).module, module_offsets);
}

SymbolSource MergedSymbolizer::source(ModuleId module) {
  return parts_(origin(module).part).source(origin(module).module);
}

std::string MergedSymbolizer::gap(ModuleId module) { return parts_(origin(module).part).gap(origin(module).module); }

}  // namespace hawk
