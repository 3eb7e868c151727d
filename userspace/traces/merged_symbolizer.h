#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "symbolizer/symbolizer.h"
#include "userspace/tables/merged_numbers.h"

namespace hawk {

/// The names of a merged snapshot: those of a module from a process that has it. Code in no file is asked of every
/// process with such a location; where the answers differ there is no name.
class MergedSymbolizer : public Symbolizer {
 public:
  /// The symbolizer of a process, by its place among those merged.
  using Parts = std::function<Symbolizer&(std::size_t part)>;

  /// `numbers` must outlive this.
  MergedSymbolizer(const MergedNumbers& numbers, Parts parts) : numbers_(numbers), parts_(std::move(parts)) {}

  std::vector<SourceFrame> frames(ModuleId module, std::uint64_t module_offset) override;
  std::vector<SourceFrame> frames_in_no_file(std::uint64_t address) override;
  void prepare_in_no_file(std::span<const std::uint64_t> addresses) override;
  void prepare(ModuleId module, std::span<const std::uint64_t> module_offsets) override;
  SymbolSource source(ModuleId module) override;
  std::string gap(ModuleId module) override;

 private:
  const ModuleOrigin& origin(ModuleId module) const { return numbers_.origins()[static_cast<std::size_t>(module)]; }

  const MergedNumbers& numbers_;
  Parts parts_;
};

}  // namespace hawk
