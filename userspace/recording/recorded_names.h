#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "symbolizer/string_pool.h"
#include "symbolizer/symbolizer.h"
#include "userspace/recording/recording.h"

namespace hawk {

/// The names that a recording holds: those of code in no file always, all others if they were asked for.
class RecordedNames : public Symbolizer {
 public:
  std::vector<SourceFrame> frames(ModuleId module, std::uint64_t module_offset) override;
  std::vector<SourceFrame> frames_in_no_file(std::uint64_t address) override;
  SymbolSource source(ModuleId module) override;
  std::string gap(ModuleId module) override;

  /// Whether there are names of code in files.
  bool has_modules() const { return !modules_.empty(); }

  /// Adds a text, whose number is the count of those before.
  void add_text(std::string text) { texts_.push_back(std::move(text)); }
  std::size_t text_count() const { return texts_.size(); }
  /// What is known of an address from now on. `frames` hold numbers of texts.
  void set(std::optional<ModuleId> module, std::uint64_t address, std::vector<PooledFrame> frames);
  void set(const NamedModule& module);

 private:
  using Frames = std::unordered_map<std::uint64_t, std::vector<PooledFrame>>;
  struct Module {
    NamedModule named;
    Frames frames;
  };
  std::vector<SourceFrame> find(const Frames& frames, std::uint64_t address) const;

  std::deque<std::string> texts_;
  std::map<ModuleId, Module> modules_;
  Frames in_no_file_;
};

}  // namespace hawk
