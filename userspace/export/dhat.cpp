#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "userspace/base/printable.h"
#include "userspace/export/exchange_formats.h"
#include "userspace/export/exported_stacks.h"
#include "userspace/export/json_escapes.h"
#include "userspace/export/piece_writer.h"

namespace hawk {
namespace {

constexpr std::uint64_t kNsPerUs = 1000;

class DhatFile {
 public:
  DhatFile(const ReportRequest& request, const TextSink& sink)
      : request_(request), stacks_(request, ExportedStacks::Names::kWhole), out_(sink) {}

  void write() {
    head();
    if (!points() || !frames()) return;
    out_.text() += "\n]}\n";
    out_.finish();
  }

 private:
  void head() {
    const Snapshot& snapshot = request_.snapshot;
    out_.text() += "{\"dhatFileVersion\":2,\"mode\":";
    append_json_text(out_.text(), origin_line(request_) +
                                      "; maxima and t-gmax are the values at the end, lifetimes are not recorded");
    out_.text() +=
        ",\"verb\":\"Allocated\",\"bklt\":true,\"bkacc\":false,\"tu\":\"µs\",\"Mtu\":\"s\",\"tuth\":500,\"cmd\":";
    append_json_text(out_.text(), command_text(snapshot));
    const std::uint64_t end = snapshot.trace.duration_ns / kNsPerUs;
    out_.put(",\"pid\":{},\"te\":{},\"tg\":{},\n\"pps\":[", snapshot.target().pid, end, end);
  }

  /// The numbers in the table of frames, in which 0 is the root.
  std::vector<std::uint32_t> frames_of(const StackRecord& record) const {
    std::vector<std::uint32_t> frames;
    for (const ListedFrame* call : stacks_.calls(record)) {
      frames.push_back(static_cast<std::uint32_t>(stacks_.number_of(*call) + 1));
    }
    return frames;
  }

  bool points() {
    // A reader takes no two points of the same frames.
    std::map<std::vector<std::uint32_t>, Counters> points;
    for (const StackRecord* record : stacks_.records()) points[frames_of(*record)] += record->counters;
    bool is_first = true;
    for (const auto& [frames, counters] : points) {
      const std::uint64_t live = counters.live_bytes();
      const std::uint64_t blocks = counters.live_count();
      out_.put(
          "{}\n{{\"tb\":{},\"tbk\":{},\"tl\":0,\"mb\":{},\"mbk\":{},\"gb\":{},\"gbk\":{},\"eb\":{},\"ebk\":{},\"fs\":[",
          is_first ? "" : ",", counters.allocated_bytes, counters.allocated_count, live, blocks, live, blocks, live,
          blocks);
      is_first = false;
      for (std::size_t i = 0; i < frames.size(); ++i) out_.put("{}{}", i == 0 ? "" : ",", frames[i]);
      out_.text() += "]}";
      if (!out_.go_on()) return false;
    }
    out_.text() += "\n],\n\"ftbl\":[\n\"[root]\"";
    return true;
  }

  bool frames() {
    for (const ListedFrame& call : stacks_.all_calls()) {
      frame(call);
      if (!out_.go_on()) return false;
    }
    for (const ListedFrame& placeholder : stacks_.placeholders()) frame(placeholder);
    return true;
  }

  /// "0xADDRESS: function (file:line:column)": with the address, stacks of the same names stay apart. The Firefox
  /// Profiler takes function, file and line out of a frame only if it has a column, which is 0: not known.
  void frame(const ListedFrame& call) {
    const ExportedFunction& function = stacks_.functions()[stacks_.function_of(call)];
    std::string text = fmt::format("{:#x}: {}", call_address(call.location), function.name);
    const Module* module = call.location.module ? find_module(request_.snapshot, *call.location.module) : nullptr;
    if (!function.file.empty() && call.source.line != 0) {
      text += fmt::format(" ({}:{}:0)", function.file, call.source.line);
    } else if (!function.file.empty()) {
      text += fmt::format(" ({})", function.file);
    } else if (module != nullptr) {
      text += fmt::format(" (in {})", printable_unicode(module->path));
    }
    out_.text() += ",\n";
    append_json_text(out_.text(), text);
  }

  const ReportRequest& request_;
  const ExportedStacks stacks_;
  PieceWriter out_;
};

}  // namespace

void write_dhat(const ReportRequest& request, const TextSink& sink) { DhatFile(request, sink).write(); }

}  // namespace hawk
