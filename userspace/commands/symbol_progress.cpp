#include "userspace/commands/symbol_progress.h"

#include <fmt/core.h>

#include <string>

#include "userspace/report/units.h"

namespace hawk {
namespace {

std::string progress_text(std::size_t done, std::size_t expected) {
  return fmt::format("hawktrace: reading debug information, {} of {} addresses",
                     format_count(done, NumberStyle::kReadable), format_count(expected, NumberStyle::kReadable));
}

}  // namespace

void ProgressSymbolizer::expect(std::size_t addresses) {
  line_.begin();
  expected_ = addresses;
  done_ = 0;
}

std::vector<SourceFrame> ProgressSymbolizer::frames(ModuleId module, std::uint64_t module_offset) {
  std::vector<SourceFrame> answer = symbolizer_.frames(module, module_offset);
  if (done_ >= expected_) return answer;
  ++done_;
  if (done_ == expected_) {
    line_.erase();
  } else {
    show();
  }
  return answer;
}

void ProgressSymbolizer::prepare(ModuleId module, std::span<const std::uint64_t> module_offsets) {
  symbolizer_.prepare(module, module_offsets);
  if (done_ < expected_) show();
}

void ProgressSymbolizer::show() {
  if (line_.is_due()) line_.show(progress_text(done_, expected_));
}

}  // namespace hawk
