#include "userspace/recording/recorded_names.h"

#include <utility>

namespace hawk {

std::vector<SourceFrame> RecordedNames::frames(ModuleId id, std::uint64_t module_offset) {
  const auto module = modules_.find(id);
  return module == modules_.end() ? std::vector<SourceFrame>{} : find(module->second.frames, module_offset);
}

std::vector<SourceFrame> RecordedNames::frames_in_no_file(std::uint64_t address) { return find(in_no_file_, address); }

SymbolSource RecordedNames::source(ModuleId id) {
  const auto module = modules_.find(id);
  return module == modules_.end() ? SymbolSource::kNone : module->second.named.source;
}

std::string RecordedNames::gap(ModuleId id) {
  const auto module = modules_.find(id);
  return module == modules_.end() ? std::string() : module->second.named.gap;
}

void RecordedNames::set(std::optional<ModuleId> module, std::uint64_t address, std::vector<PooledFrame> frames) {
  Frames& all = module ? modules_[*module].frames : in_no_file_;
  all[address] = std::move(frames);
}

void RecordedNames::set(const NamedModule& module) { modules_[module.module].named = module; }

std::vector<SourceFrame> RecordedNames::find(const Frames& all, std::uint64_t address) const {
  const auto found = all.find(address);
  if (found == all.end()) return {};
  std::vector<SourceFrame> frames;
  frames.reserve(found->second.size());
  for (const PooledFrame& frame : found->second) {
    frames.push_back({texts_[frame.function], texts_[frame.file], frame.line, frame.inlined});
  }
  return frames;
}

}  // namespace hawk
