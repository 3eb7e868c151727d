#include <string>
#include <vector>

#include "userspace/export/exchange_formats.h"
#include "userspace/export/exported_stacks.h"
#include "userspace/export/json_escapes.h"
#include "userspace/export/metrics.h"
#include "userspace/export/piece_writer.h"
#include "userspace/report/quantity.h"

namespace hawk {
namespace {

class SpeedscopeFile {
 public:
  SpeedscopeFile(const ReportRequest& request, const TextSink& sink)
      : request_(request), stacks_(request, ExportedStacks::Names::kShort), out_(sink) {}

  void write() {
    out_.put(R"({{"$schema":"https://www.speedscope.app/file-format-schema.json","exporter":"hawktrace@{}","name":)",
             request_.hawktrace_version);
    append_json_text(out_.text(), origin_line(request_));
    out_.put(",\"activeProfileIndex\":{},\n\"shared\":{{\"frames\":[", metric_index(request_.selection.sort));
    if (!frames()) return;
    out_.text() += "]},\n\"profiles\":[";
    for (const Metric& metric : kMetrics) {
      if (&metric != kMetrics.data()) out_.text() += ',';
      if (!profile(metric)) return;
    }
    out_.text() += "\n]}\n";
    out_.finish();
  }

 private:
  bool frames() {
    bool is_first = true;
    for (const ExportedFunction& function : stacks_.functions()) {
      out_.text() += is_first ? "\n{\"name\":" : ",\n{\"name\":";
      is_first = false;
      append_json_text(out_.text(), function.name);
      if (!function.file.empty()) {
        out_.text() += ",\"file\":";
        append_json_text(out_.text(), function.file);
      }
      out_.text() += '}';
      numbers_.push_back(fmt::format("{}", numbers_.size()));
      if (!out_.go_on()) return false;
    }
    return true;
  }

  bool profile(const Metric& metric) {
    out_.put("\n{{\"type\":\"sampled\",\"name\":\"{}\",\"unit\":\"{}\",\"startValue\":0,\"endValue\":{},\"samples\":[",
             sort_key_words(metric.key), metric.is_bytes ? "bytes" : "none", sort_value(stacks_.totals(), metric.key));
    bool is_first = true;
    for (const StackRecord* record : stacks_.records()) {
      if (sort_value(record->counters, metric.key) == 0) continue;
      out_.text() += is_first ? "\n[" : ",\n[";
      is_first = false;
      const FrameList calls = stacks_.calls(*record);
      for (auto call = calls.rbegin(); call != calls.rend(); ++call) {
        if (call != calls.rbegin()) out_.text() += ',';
        out_.text() += numbers_[stacks_.function_of(**call)];
      }
      out_.text() += ']';
      if (!out_.go_on()) return false;
    }
    out_.text() += "],\"weights\":[";
    is_first = true;
    for (const StackRecord* record : stacks_.records()) {
      const std::uint64_t weight = sort_value(record->counters, metric.key);
      if (weight == 0) continue;
      out_.put("{}{}", is_first ? "" : ",", weight);
      is_first = false;
      if (!out_.go_on()) return false;
    }
    out_.text() += "]}";
    return true;
  }

  const ReportRequest& request_;
  const ExportedStacks stacks_;
  PieceWriter out_;
  std::vector<std::string> numbers_;  ///< of functions, as text: they are written millions of times
};

}  // namespace

void write_speedscope(const ReportRequest& request, const TextSink& sink) { SpeedscopeFile(request, sink).write(); }

}  // namespace hawk
