#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "userspace/base/log.h"
#include "userspace/base/printable.h"
#include "userspace/export/exchange_formats.h"
#include "userspace/export/exported_stacks.h"
#include "userspace/export/heaptrack_events.h"
#include "userspace/export/numbered_paths.h"
#include "userspace/export/piece_writer.h"

namespace hawk {
namespace {

constexpr std::uint64_t kNsPerMs = 1'000'000;
constexpr std::uint64_t kPageBytes = 4096;
/// So many allocations and frees are written one by one, for that is all the format knows: some 60 MB.
constexpr std::uint64_t kMostEvents = 10'000'000;

/// How much of what happened a file has room for.
enum class Detail {
  kAll,        ///< every allocation and every free
  kLive,       ///< every live block, and nothing of what was freed
  kLiveBytes,  ///< live bytes, as one block a stack
};

Detail detail_for(const Counters& totals) {
  // What was freed was allocated.
  if (totals.allocated_count <= kMostEvents - std::min(kMostEvents, totals.freed_count)) return Detail::kAll;
  return totals.live_count() <= kMostEvents ? Detail::kLive : Detail::kLiveBytes;
}

const char* left_out_text(Detail detail) {
  if (detail == Detail::kAll) return "";
  return detail == Detail::kLive ? "blocks that were freed are left out" : "the live blocks of a stack are one block";
}

class HeaptrackFile {
 public:
  HeaptrackFile(const ReportRequest& request, const TextSink& sink)
      : request_(request),
        stacks_(request, ExportedStacks::Names::kWhole),
        out_(sink),
        detail_(detail_for(stacks_.totals())) {}

  void write() {
    head();
    if (!put_traces()) return;
    out_.text() += "c 0\n";
    HeaptrackEvents events(out_, stacks_.records(), traces_);
    if (detail_ == Detail::kAll ? !put_series(events) || !events.advance_to_end() : !put_live(events)) return;
    tail();
    out_.finish();
  }

 private:
  void head() {
    const Snapshot& snapshot = request_.snapshot;
    out_.put("v 10400 2\n# {}\n", origin_line(request_));
    for (const std::string& loss : loss_lines(snapshot)) out_.put("# {}\n", loss);
    if (detail_ != Detail::kAll) {
      out_.put("# {}\n", left_out_text(detail_));
      log_warning(fmt::format("heaptrack's format has a line for each allocation, and there were too many: {}",
                              left_out_text(detail_)));
    }
    out_.put("X {}\n{}I {:x} 0\n", command_text(snapshot), snapshot.trace.from_start ? "" : "A\n", kPageBytes);
  }

  void tail() {
    const Snapshot& snapshot = request_.snapshot;
    out_.put("c {:x}\n", snapshot.trace.duration_ns / kNsPerMs);
    if (snapshot.memory) out_.put("R {:x}\n", snapshot.memory->resident_bytes / kPageBytes);
  }

  std::size_t text_number(const std::string& text) {
    if (text.empty()) return 0;
    const auto [entry, is_new] = texts_.emplace(text, texts_.size() + 1);
    if (is_new) out_.put("s {}\n", text);
    return entry->second;
  }

  /// The number of an instruction with these calls, which are inlined into each other.
  std::size_t instruction_number(std::uint32_t key, std::uint64_t address, std::span<const ListedFrame> calls) {
    const auto [entry, is_new] = instructions_.emplace(key, instructions_.size() + 1);
    if (!is_new) return entry->second;
    const Location& location = calls.front().location;
    const Module* module = location.module ? find_module(request_.snapshot, *location.module) : nullptr;
    std::string line =
        fmt::format("i {:x} {:x}", address, text_number(module != nullptr ? printable_unicode(module->path) : ""));
    for (const ListedFrame& call : calls) {
      if (call.source.function.empty() && !stacks_.is_placeholder(call)) continue;
      const ExportedFunction& function = stacks_.functions()[stacks_.function_of(call)];
      const std::size_t name = text_number(function.name);
      line += fmt::format(" {:x} {:x} {:x}", name, text_number(function.file), call.source.line);
    }
    out_.text() += line + '\n';
    return entry->second;
  }

  /// Placeholders have numbers behind those of the locations.
  std::uint32_t first_placeholder() const { return static_cast<std::uint32_t>(request_.snapshot.locations.size()); }

  NumberedPaths paths() const {
    NumberedPaths paths;
    for (const StackRecord* record : stacks_.records()) {
      const FrameList placeholders = stacks_.placeholders_of(*record);
      for (auto call = placeholders.rbegin(); call != placeholders.rend(); ++call) {
        paths.push(first_placeholder() + static_cast<std::uint32_t>(stacks_.function_of(**call)));
      }
      stacks_.push_locations(*record, paths);
      paths.end_path();
    }
    return paths;
  }

  std::size_t instruction_of(std::uint32_t call) {
    if (call >= first_placeholder())
      return instruction_number(call, 0, std::span(stacks_.placeholders()).subspan(call - first_placeholder(), 1));
    const LocationId id{call};
    return instruction_number(call, call_address(request_.snapshot.location(id)), stacks_.calls_at(id));
  }

  /// A trace is a node of the tree of calls. False: no more is wanted.
  bool put_traces() {
    bool is_wanted = true;
    traces_ = paths().number_nodes([&](std::uint32_t, std::uint32_t caller, std::uint32_t call) {
      if (!is_wanted) return;
      const std::size_t instruction = instruction_of(call);
      out_.put("t {:x} {:x}\n", instruction, caller);
      is_wanted = out_.go_on();
    });
    return is_wanted;
  }

  /// What is known of the time before the snapshot. Where a file has no room for all events there is no series: what
  /// would make the live bytes right would be calls that never were.
  bool put_series(HeaptrackEvents& events) {
    if (request_.series == nullptr || !request_.series->replay) return true;
    bool wanted = true;
    request_.series->replay([&](const Snapshot& now) {
      if (now.trace.exec_count != request_.snapshot.trace.exec_count) return true;  // of another program
      wanted = events.advance(now);
      out_.put("c {:x}\n", now.trace.duration_ns / kNsPerMs);
      return wanted;
    });
    return wanted;
  }

  bool put_live(HeaptrackEvents& events) {
    for (std::size_t i = 0; i < traces_.size(); ++i) {
      const Counters& counters = stacks_.records()[i]->counters;
      const std::uint64_t most = detail_ == Detail::kLive ? counters.live_count() : 1;
      if (!events.put_live({counters.live_bytes(), std::min(counters.live_count(), most)}, i)) return false;
    }
    return true;
  }

  const ReportRequest& request_;
  const ExportedStacks stacks_;
  PieceWriter out_;
  const Detail detail_;
  std::vector<std::uint32_t> traces_;  ///< of the records, in their order
  std::unordered_map<std::string, std::size_t> texts_;
  std::unordered_map<std::uint32_t, std::size_t> instructions_;
};

}  // namespace

void write_heaptrack(const ReportRequest& request, const TextSink& sink) { HeaptrackFile(request, sink).write(); }

}  // namespace hawk
