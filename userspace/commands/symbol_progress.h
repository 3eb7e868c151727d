#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "symbolizer/symbolizer.h"
#include "userspace/commands/progress_line.h"

namespace hawk {

/// Forwards calls to another symbolizer, and shows the progress if the work takes longer than a second:
/// "hawktrace: reading debug information, 1,234 of 20,000 addresses". On a terminal the line is erased at the
/// end.
class ProgressSymbolizer : public Symbolizer {
 public:
  /// Both must outlive this.
  ProgressSymbolizer(Symbolizer& symbolizer, ProgressLine& line) : symbolizer_(symbolizer), line_(line) {}

  ProgressLine& line() { return line_; }

  /// The work begins now: that many calls of frames() will follow, each for another address.
  void expect(std::size_t addresses);

  std::vector<SourceFrame> frames(ModuleId module, std::uint64_t module_offset) override;
  std::vector<SourceFrame> frames_in_no_file(std::uint64_t address) override {
    return symbolizer_.frames_in_no_file(address);
  }
  void prepare_in_no_file(std::span<const std::uint64_t> addresses) override {
    symbolizer_.prepare_in_no_file(addresses);
  }
  void prepare(ModuleId module, std::span<const std::uint64_t> module_offsets) override;
  SymbolSource source(ModuleId module) override { return symbolizer_.source(module); }
  std::string gap(ModuleId module) override { return symbolizer_.gap(module); }

 private:
  void show();

  Symbolizer& symbolizer_;
  ProgressLine& line_;
  std::size_t expected_ = 0;
  std::size_t done_ = 0;
};

}  // namespace hawk
