#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "userspace/base/printable.h"
#include "userspace/export/call_tree.h"
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

class MassifFile {
 public:
  MassifFile(const ReportRequest& request, const TextSink& sink)
      : request_(request), stacks_(request, ExportedStacks::Names::kWhole), out_(sink) {}

  void write() {
    const TraceInfo& trace = request_.snapshot.trace;
    out_.put("desc: {}\ncmd: {}\ntime_unit: ms\n", without_comment_marks(origin_line(request_)),
             without_comment_marks(printable_unicode(request_.snapshot.target().exe)));
    snapshot(0, 0, 0);
    out_.text() += "heap_tree=empty\n";
    snapshot(1, trace.duration_ns / kNsPerMs, stacks_.totals().live_bytes());
    out_.text() += "heap_tree=detailed\n";
    if (tree()) out_.finish();
  }

 private:
  using Node = CallTree::Node;

  void snapshot(int number, std::uint64_t time_ms, std::uint64_t live_bytes) {
    out_.put("#-----------\nsnapshot={}\n#-----------\ntime={}\nmem_heap_B={}\nmem_heap_extra_B=0\nmem_stacks_B=0\n",
             number, time_ms, live_bytes);
  }

  /// From the callers of the allocator outwards.
  CallTree callers() const {
    CallTree tree;
    for (const StackRecord* record : stacks_.records()) {
      if (record->counters.live_bytes() == 0) continue;
      Node node = CallTree::kRoot;
      for (const ListedFrame* call : stacks_.calls(*record)) {
        node = tree.below(node, static_cast<std::uint32_t>(stacks_.number_of(*call)));
      }
      tree.at(node).own += record->counters;
    }
    tree.sum_up();
    return tree;
  }

  bool tree() {
    const CallTree tree = callers();
    const CallTree::Children children(tree);
    std::vector<Line> lines = {{.node = CallTree::kRoot}};
    while (!lines.empty()) {
      const Line line = std::move(lines.back());
      lines.pop_back();
      if (!line.residue.empty()) {
        out_.text() += line.residue;
      } else {
        put_node(tree, children, line.node, lines);
      }
      if (!out_.go_on()) return false;
    }
    return true;
  }

  /// What is to be written: a node with all below it, or a line.
  struct Line {
    Node node{};
    std::string residue = {};
  };

  /// Writes `node`, and puts those below it on `lines`, the first one last.
  void put_node(const CallTree& tree, const CallTree::Children& children, Node node, std::vector<Line>& lines) {
    std::vector<Node> shown = children.of(node);
    const auto bytes = [&](Node child) { return tree.at(child).all.live_bytes(); };
    std::stable_sort(shown.begin(), shown.end(), [&](Node a, Node b) { return bytes(a) > bytes(b); });
    const std::uint64_t least = stacks_.totals().live_bytes() / kShareShown;
    std::uint64_t places = 0;
    std::uint64_t rest = 0;
    while (!shown.empty() && bytes(shown.back()) < least) {
      rest += bytes(shown.back());
      ++places;
      shown.pop_back();
    }
    const CallTree::Entry& entry = tree.at(node);
    out_.put("{:>{}}{}: {} {}\n", 'n', entry.depth + 1, shown.size() + (places != 0 ? 1 : 0), entry.all.live_bytes(),
             node == CallTree::kRoot ? "(heap allocation functions)" : call_text(entry.call));
    if (places != 0) {
      lines.push_back({.residue = fmt::format("{:>{}}0: {} in {} place{}, all below massif's threshold (0.10%)\n", 'n',
                                              entry.depth + 2, rest, places, places == 1 ? "" : "s")});
    }
    for (auto child = shown.rbegin(); child != shown.rend(); ++child) lines.push_back({.node = *child});
  }

  std::string call_text(std::uint32_t number) const {
    const ListedFrame& call = stacks_.call(number);
    const ExportedFunction& function = stacks_.functions()[stacks_.function_of(call)];
    const Module* module = call.location.module ? find_module(request_.snapshot, *call.location.module) : nullptr;
    std::string where;
    if (!function.file.empty()) {
      where = fmt::format(" ({}:{})", file_name(function.file), call.source.line);
    } else if (module != nullptr) {
      where = fmt::format(" (in {})", printable_unicode(module->path));
    }
    return without_comment_marks(fmt::format("{:#X}: {}{}", call_address(call.location), function.name, where));
  }

  const ReportRequest& request_;
  const ExportedStacks stacks_;
  PieceWriter out_;
};

}  // namespace

void write_massif(const ReportRequest& request, const TextSink& sink) { MassifFile(request, sink).write(); }

}  // namespace hawk
