#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "userspace/base/printable.h"
#include "userspace/export/exchange_formats.h"
#include "userspace/export/exported_stacks.h"
#include "userspace/export/piece_writer.h"

namespace hawk {
namespace {

constexpr std::uint64_t kNsPerMs = 1'000'000;
constexpr std::uint64_t kShareShown = 1000;  // a node of less than that part of all bytes is summed up with its like

/// ms_print takes what follows for a comment.
std::string without_comment_marks(std::string text) {
  std::replace(text.begin(), text.end(), '#', ':');
  return text;
}

/// The stacks of one snapshot as massif's tree of them.
class MassifTree {
 public:
  MassifTree(const ExportedStacks& stacks, PieceWriter& out) : stacks_(stacks), out_(out) {}

  /// False: no more is wanted.
  bool write() {
    collect();
    std::vector<Node> rest = {{0, stacks_by_node_.size(), 0, stacks_.totals().live_bytes()}};
    while (!rest.empty()) {
      const Node node = rest.back();
      rest.pop_back();
      put_node(node, rest);
      if (!out_.go_on()) return false;
    }
    return true;
  }

 private:
  /// A stack with its calls, from the caller of the allocator outwards.
  struct Stack {
    std::size_t first = 0;  ///< in calls_
    std::size_t count = 0;
    std::uint64_t bytes = 0;
  };

  /// A node of the tree: the stacks that have the same calls so far. What it says of them, where they are too small.
  struct Node {
    std::size_t begin = 0;  ///< of stacks_by_node_
    std::size_t end = 0;
    std::size_t depth = 0;  ///< so many calls they have in common
    std::uint64_t bytes = 0;
    std::uint64_t summed = 0;  ///< more than 0: so many nodes that are summed up
  };

  void collect() {
    for (const StackRecord* record : stacks_.records()) {
      if (record->counters.live_bytes() == 0) continue;
      const FrameList calls = stacks_.calls(*record);
      stacks_by_node_.push_back({calls_.size(), calls.size(), record->counters.live_bytes()});
      for (const ListedFrame* call : calls) calls_.push_back(static_cast<std::uint32_t>(stacks_.number_of(*call)));
    }
  }

  std::uint32_t call_at(const Stack& stack, std::size_t depth) const { return calls_[stack.first + depth]; }

  /// Those below `node`, the largest first. Stacks that have no more calls are of none of them.
  std::vector<Node> children_of(const Node& node) {
    const auto first = stacks_by_node_.begin() + static_cast<std::ptrdiff_t>(node.begin);
    const auto last = stacks_by_node_.begin() + static_cast<std::ptrdiff_t>(node.end);
    const auto going_on = std::partition(first, last, [&](const Stack& stack) { return stack.count == node.depth; });
    std::sort(going_on, last, [&](const Stack& a, const Stack& b) {
      const std::uint32_t call_a = call_at(a, node.depth);
      const std::uint32_t call_b = call_at(b, node.depth);
      return call_a != call_b ? call_a < call_b : a.first < b.first;
    });
    std::vector<Node> children;
    for (auto stack = going_on; stack != last; ++stack) {
      const auto index = static_cast<std::size_t>(stack - stacks_by_node_.begin());
      if (stack == going_on || call_at(*stack, node.depth) != call_at(stack[-1], node.depth)) {
        children.push_back({.begin = index, .depth = node.depth + 1});
      }
      children.back().end = index + 1;
      children.back().bytes += stack->bytes;
    }
    std::stable_sort(children.begin(), children.end(), [](const Node& a, const Node& b) { return a.bytes > b.bytes; });
    return children;
  }

  /// Writes `node`, and puts those below it on `rest`, the first one last.
  void put_node(const Node& node, std::vector<Node>& rest) {
    if (node.summed != 0) {
      out_.put("{:>{}}0: {} in {} place{}, all below massif's threshold (0.10%)\n", 'n', node.depth + 1, node.bytes,
               node.summed, node.summed == 1 ? "" : "s");
      return;
    }
    std::vector<Node> children = children_of(node);
    const std::uint64_t least = stacks_.totals().live_bytes() / kShareShown;
    Node small = {.depth = node.depth + 1};
    while (!children.empty() && children.back().bytes < least) {
      small.bytes += children.back().bytes;
      ++small.summed;
      children.pop_back();
    }
    if (small.summed != 0) children.push_back(small);
    out_.put("{:>{}}{}: {} {}\n", 'n', node.depth + 1, children.size(), node.bytes,
             node.depth == 0 ? "(heap allocation functions)"
                             : call_text(call_at(stacks_by_node_[node.begin], node.depth - 1)));
    rest.insert(rest.end(), children.rbegin(), children.rend());
  }

  std::string call_text(std::uint32_t number) const {
    const ListedFrame& call = stacks_.call(number);
    const ExportedFunction& function = stacks_.functions()[stacks_.function_of(call)];
    const Module* module = call.location.module ? find_module(stacks_.snapshot(), *call.location.module) : nullptr;
    std::string where;
    if (!function.file.empty()) {
      where = fmt::format(" ({}:{})", file_name(function.file), call.source.line);
    } else if (module != nullptr) {
      where = fmt::format(" (in {})", printable_unicode(module->path));
    }
    return without_comment_marks(fmt::format("{:#X}: {}{}", call_address(call.location), function.name, where));
  }

  const ExportedStacks& stacks_;
  PieceWriter& out_;
  std::vector<std::uint32_t> calls_;
  std::vector<Stack> stacks_by_node_;
};

class MassifFile {
 public:
  MassifFile(const ReportRequest& request, const TextSink& sink)
      : request_(request), stacks_(request, ExportedStacks::Names::kWhole), out_(sink) {}

  void write() {
    const TraceInfo& trace = request_.snapshot.trace;
    out_.put("desc: {}\ncmd: {}\ntime_unit: ms\n", without_comment_marks(origin_line(request_)),
             without_comment_marks(command_text(request_.snapshot)));
    put_snapshot(0, 0);
    out_.text() += "heap_tree=empty\n";
    if (!put_series()) return;
    put_snapshot(trace.duration_ns, stacks_.totals().live_bytes());
    out_.text() += "heap_tree=detailed\n";
    if (MassifTree(stacks_, out_).write()) out_.finish();
  }

 private:
  void put_snapshot(std::uint64_t time_ns, std::uint64_t live_bytes) {
    out_.put("#-----------\nsnapshot={}\n#-----------\ntime={}\nmem_heap_B={}\nmem_heap_extra_B=0\nmem_stacks_B=0\n",
             snapshots_++, time_ns / kNsPerMs, live_bytes);
  }

  /// All points but the last, which is the snapshot. Of a part of the stacks there is none: its points would be of all.
  bool put_series() {
    const HeapSeries* series = request_.series;
    if (series == nullptr || stacks_.records().size() != request_.snapshot.stacks.size()) return true;
    for (std::size_t i = 0; i + 1 < series->points.size(); ++i) {
      put_snapshot(series->points[i].time_ns, series->points[i].live_bytes);
      if (i == series->peak && series->at_peak != nullptr) {
        out_.text() += "heap_tree=peak\n";
        if (!put_peak(*series->at_peak)) return false;
      } else {
        out_.text() += "heap_tree=empty\n";
      }
      if (!out_.go_on()) return false;
    }
    return true;
  }

  bool put_peak(const Snapshot& peak) {
    ReportRequest request = {.snapshot = peak, .symbolizer = request_.symbolizer, .selection = {.top = 0}};
    request.filter = request_.filter;
    request.grouping = request_.grouping;
    const ExportedStacks stacks(request, ExportedStacks::Names::kWhole);
    return MassifTree(stacks, out_).write();
  }

  const ReportRequest& request_;
  const ExportedStacks stacks_;
  PieceWriter out_;
  int snapshots_ = 0;
};

}  // namespace

void write_massif(const ReportRequest& request, const TextSink& sink) { MassifFile(request, sink).write(); }

}  // namespace hawk
