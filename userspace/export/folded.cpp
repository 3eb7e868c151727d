#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "userspace/export/exchange_formats.h"
#include "userspace/export/exported_stacks.h"
#include "userspace/export/piece_writer.h"

namespace hawk {

void write_folded(const ReportRequest& request, const TextSink& sink) {
  const ExportedStacks stacks(request, ExportedStacks::Names::kShort);
  std::vector<std::string> names;
  for (const ExportedFunction& function : stacks.functions()) {
    names.push_back(function.name);
    std::replace(names.back().begin(), names.back().end(), ';', ':');
  }
  PieceWriter out(sink);
  for (const StackRecord* record : stacks.records()) {
    const std::uint64_t value = sort_value(record->counters, request.selection.sort);
    if (value == 0) continue;
    const FrameList calls = stacks.calls(*record);
    for (auto call = calls.rbegin(); call != calls.rend(); ++call) {
      if (call != calls.rbegin()) out.text() += ';';
      out.text() += names[stacks.function_of(**call)];
    }
    out.put(" {}\n", value);
    if (!out.go_on()) return;
  }
  out.finish();
}

}  // namespace hawk
