#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "symbolizer/symbolizer.h"

namespace hawk {

/// Where progress is told.
struct ProgressOutlet {
  bool is_terminal = false;  ///< one line is rewritten in place; otherwise lines follow each other, rarely
  std::size_t columns = 0;   ///< of the terminal: a longer line is cut; 0: not known
  std::function<std::chrono::steady_clock::time_point()> now;
  std::function<void(std::string_view)> put;  ///< may be empty
};

/// Passes questions on to another symbolizer, and tells people how far the work has come once it takes longer than a
/// second: "hawktrace: reading debug information, 1,234 of 20,000 addresses". What was put on a terminal is erased at
/// the end of the work.
class ProgressSymbolizer : public Symbolizer {
 public:
  /// `symbolizer` must outlive this.
  ProgressSymbolizer(Symbolizer& symbolizer, ProgressOutlet outlet)
      : symbolizer_(symbolizer), outlet_(std::move(outlet)) {}
  ProgressSymbolizer(const ProgressSymbolizer&) = delete;
  ProgressSymbolizer& operator=(const ProgressSymbolizer&) = delete;
  ~ProgressSymbolizer() override { erase(); }

  /// The work begins now: so many calls of frames() are going to follow, each for another address.
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
  void tell();
  void erase();

  Symbolizer& symbolizer_;
  ProgressOutlet outlet_;
  std::size_t expected_ = 0;
  std::size_t done_ = 0;
  std::chrono::steady_clock::time_point next_;  ///< when to tell again
  std::size_t shown_columns_ = 0;               ///< of the terminal's line that are ours
};

}  // namespace hawk
