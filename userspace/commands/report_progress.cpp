#include "userspace/commands/report_progress.h"

#include <fmt/core.h>

#include <cstdint>
#include <string_view>
#include <utility>

#include "userspace/report/units.h"

namespace hawk {

ReportProducer with_progress(ReportProducer produce, ProgressLine& line) {
  return [produce = std::move(produce), &line](const TextSink& sink) {
    std::uint64_t bytes = 0;
    line.begin();
    produce([&](std::string_view piece) {
      bytes += piece.size();
      if (line.is_due()) {
        line.show(fmt::format("hawktrace: writing the report, {}", format_bytes(bytes, NumberStyle::kReadable)));
      }
      return sink(piece);
    });
    line.erase();
  };
}

}  // namespace hawk
