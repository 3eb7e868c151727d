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

void RecordedNames::add(const RecordedNames& other, const std::vector<ModuleId>& modules,
                        const SharedTable<Location>& locations) {
  for (const auto& [own, module] : other.modules_) {
    const ModuleId id = modules[static_cast<std::size_t>(own)];
    const auto [known, is_new] = modules_.try_emplace(id);
    if (is_new) known->second.named = module.named;
    known->second.named.module = id;
    for (const auto& [address, frames] : module.frames) {
      if (known->second.frames.contains(address)) continue;
      known->second.frames[address] = taken_over(other.find(module.frames, address));
    }
  }
  for (const Location& location : locations) {
    if (location.module) continue;
    for (const std::uint64_t address : {location.address, location.address + (location.interrupted ? 1 : 0)}) {
      const std::vector<SourceFrame> theirs = other.find(other.in_no_file_, address);
      if (!in_no_file_.contains(address)) {
        in_no_file_[address] = taken_over(theirs);
      } else if (find(in_no_file_, address) != theirs) {
        in_no_file_[address].clear();
      }
    }
  }
}

std::vector<PooledFrame> RecordedNames::taken_over(const std::vector<SourceFrame>& frames) {
  std::vector<PooledFrame> taken;
  for (const SourceFrame& frame : frames) {
    PooledFrame& pooled = taken.emplace_back();
    pooled.function = number_of(frame.function);
    pooled.file = number_of(frame.file);
    pooled.line = frame.line;
    pooled.inlined = frame.inlined;
  }
  return taken;
}

/// Of a text of other processes.
std::uint32_t RecordedNames::number_of(const std::string& text) {
  const auto [known, is_new] = taken_texts_.emplace(text, static_cast<std::uint32_t>(texts_.size()));
  if (is_new) texts_.push_back(text);
  return known->second;
}

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
