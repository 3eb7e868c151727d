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

  /// Adds what is known of another process, whose modules have the numbers `modules` here. What is known already stays;
  /// of code in no file that is not the same in every process with such a location there, the name is not known.
  void add(const RecordedNames& other, const std::vector<ModuleId>& modules, const SharedTable<Location>& locations);

 private:
  using Frames = std::unordered_map<std::uint64_t, std::vector<PooledFrame>>;
  struct Module {
    NamedModule named;
    Frames frames;
  };
  std::vector<SourceFrame> find(const Frames& frames, std::uint64_t address) const;
  std::vector<PooledFrame> taken_over(const std::vector<SourceFrame>& frames);
  std::uint32_t number_of(const std::string& text);

  std::deque<std::string> texts_;
  std::map<ModuleId, Module> modules_;
  Frames in_no_file_;
  std::unordered_map<std::string, std::uint32_t> taken_texts_;  ///< numbers of those that add() has taken over
};

}  // namespace hawk
