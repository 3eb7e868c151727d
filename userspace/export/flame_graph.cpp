#include "userspace/export/flame_graph.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "userspace/export/exchange_formats.h"
#include "userspace/export/exported_stacks.h"
#include "userspace/export/flame_graph_page.h"
#include "userspace/export/json_escapes.h"
#include "userspace/export/metrics.h"
#include "userspace/export/piece_writer.h"
#include "userspace/report/quantity.h"
#include "userspace/views/call_tree.h"

namespace hawk {
namespace {

constexpr std::string_view kDataMark = "HAWK_FLAME_GRAPH_DATA";

/// As append_json_text, for a page: no name can end the element that it stands in, or begin a comment there.
void append_page_text(std::string& out, std::string_view text) {
  std::string json;
  append_json_text(json, text);
  for (const char c : json) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
}

class Page {
 public:
  Page(const FlameGraph& graph, const TextSink& sink) : graph_(graph), out_(sink) {}

  void write() {
    const std::size_t mark = kFlameGraphPage.find(kDataMark);
    out_.text() += kFlameGraphPage.substr(0, mark);
    if (!data()) return;
    out_.text() += kFlameGraphPage.substr(mark + kDataMark.size());
    out_.finish();
  }

 private:
  bool is_difference() const { return !graph_.before.empty(); }

  bool data() {
    out_.text() += "{\"title\":";
    append_page_text(out_.text(), graph_.title);
    out_.put(",\"difference\":{},\"metric\":{},\"metrics\":[", is_difference(), metric_index(graph_.sort));
    for (const Metric& metric : kMetrics) {
      out_.put("{}{{\"name\":\"{}\",\"bytes\":{}}}", &metric == kMetrics.data() ? "" : ",", sort_key_words(metric.key),
               metric.is_bytes);
    }
    out_.text() += "],\n\"names\":[";
    for (const std::string& name : graph_.names) {
      append_page_text(out_.text(), name);
      out_.text() += ",\n";
      if (!out_.go_on()) return false;
    }
    out_.text() += "\"all\"],\n\"nodes\":[";
    if (!nodes()) return false;
    out_.text() += "],\n\"ends\":[";
    if (!ends()) return false;
    out_.text() += "]}\n";
    return true;
  }

  /// Each after its caller: depth and name. The last name is the root's.
  bool nodes() {
    const CallTree::Children children(graph_.tree);
    std::vector<CallTree::Node> rest = {CallTree::kRoot};
    numbers_.resize(graph_.tree.size());
    for (std::uint32_t number = 0; !rest.empty(); ++number) {
      const CallTree::Node node = rest.back();
      rest.pop_back();
      numbers_[static_cast<std::size_t>(node)] = number;
      const CallTree::Entry& entry = graph_.tree.at(node);
      out_.put("{}{},{}", number == 0 ? "" : ",", entry.depth,
               node == CallTree::kRoot ? graph_.names.size() : entry.call);
      for (const CallTree::Node child : children.of(node)) rest.push_back(child);
      if (!out_.go_on()) return false;
    }
    return true;
  }

  /// The nodes in which stacks end, by number: what these have of each metric, and had before.
  bool ends() {
    bool is_first = true;
    for (std::size_t index = 1; index < graph_.tree.size(); ++index) {
      const Counters& own = graph_.tree.at(static_cast<CallTree::Node>(index)).own;
      const Counters before = is_difference() ? graph_.before[index] : Counters{};
      if (own.allocated_count == 0 && before.allocated_count == 0) continue;
      out_.put("{}{}", std::exchange(is_first, false) ? "\n" : ",\n", numbers_[index]);
      for (const Metric& metric : kMetrics) out_.put(",{}", sort_value(own, metric.key));
      for (const Metric& metric : kMetrics) {
        if (is_difference()) out_.put(",{}", sort_value(before, metric.key));
      }
      if (!out_.go_on()) return false;
    }
    return true;
  }

  const FlameGraph& graph_;
  PieceWriter out_;
  std::vector<std::uint32_t> numbers_;  ///< in the page, by node
};

}  // namespace

void write_flame_graph_page(const FlameGraph& graph, const TextSink& sink) { Page(graph, sink).write(); }

void write_flame_graph(const ReportRequest& request, const TextSink& sink) {
  const ExportedStacks stacks(request, ExportedStacks::Names::kShort);
  FlameGraph graph = {.title = origin_line(request), .sort = request.selection.sort, .names = {}, .tree = {}};
  for (const ExportedFunction& function : stacks.functions()) graph.names.push_back(function.name);
  for (const StackRecord* record : stacks.records()) {
    CallTree::Node node = CallTree::kRoot;
    const FrameList calls = stacks.calls(*record);
    for (auto call = calls.rbegin(); call != calls.rend(); ++call) {
      node = graph.tree.below(node, static_cast<std::uint32_t>(stacks.function_of(**call)));
    }
    graph.tree.at(node).own += record->counters;
  }
  write_flame_graph_page(graph, sink);
}

}  // namespace hawk
