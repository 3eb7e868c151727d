#include "userspace/code/arch/x86_64/inlined_calls.h"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <utility>

#include "userspace/code/arch/x86_64/wrapped_call.h"

namespace hawk {
namespace {

constexpr std::size_t kResult = 0;
constexpr std::uint32_t kRax = 1u << 0;
constexpr std::uint32_t kRdi = 1u << 7;
/// Of arguments, bits by number.
constexpr std::uint32_t kArgumentRegisters = 1u << HAWK_RDI | 1u << HAWK_RSI | 1u << HAWK_RDX | 1u << HAWK_RCX;

enum class Returned : std::uint8_t { kNull, kBlock };

/// The paths behind a call that has returned a block, or null.
class PathsBehind {
 public:
  PathsBehind(const CodeGraph& graph, const std::vector<std::optional<ResultHolders>>& certain,
              const std::vector<bool>& is_inlined, const CalleeFacts& facts, Returned returned)
      : graph_(graph), certain_(certain), is_inlined_(is_inlined), facts_(facts), returned_(returned) {}

  /// Whether the function returns the same, on all of them. Marks in `behind` what they come by.
  bool return_it(std::size_t start, std::vector<bool>& behind) {
    Values at_start;
    at_start[kResult].registers = kRax;
    values_ = follow_values_from(
        graph_, start, at_start,
        [this](std::size_t from, std::size_t next, const Values& before) { return leads(from, next, before); });
    for (std::size_t node = 0; node < values_.size(); ++node) {
      if (!values_[node]) continue;
      behind[node] = true;
      if (!is_right(node)) return false;
    }
    return returned_ == Returned::kNull || !has_loop();
  }

 private:
  bool is_end(std::size_t node) const {
    if (graph_.nodes[node].ends_program) return true;
    const bool returns_null = certain_[node] && certain_[node]->constant == std::uint32_t{0};
    return returned_ == Returned::kNull && (is_inlined_[node] || returns_null);
  }

  bool leads(std::size_t from, std::size_t next, const Values& before) const {
    if (is_end(from)) return false;
    const std::uint32_t held = before[kResult].registers;
    if (returned_ == Returned::kBlock) return (zero_on_way(graph_, from, next) & held) == 0;
    // The other way is that on which what has been tested is not null.
    const std::vector<std::size_t>& ways = graph_.nodes[from].next;
    return std::none_of(ways.begin(), ways.end(), [&](std::size_t other) {
      return other != next && (zero_on_way(graph_, from, other) & held) != 0;
    });
  }

  bool is_right(std::size_t at) const {
    if (is_end(at)) return true;
    const CodeNode& node = graph_.nodes[at];
    const std::uint32_t held = (*values_[at])[kResult].registers;
    if (node.is_return()) return certain_[at] && (held & (node.is_returning_jump() ? kRdi : kRax)) != 0;
    if (node.next.empty()) return false;
    if (returned_ == Returned::kNull) return node.is_call() || node.has_all_ways;
    if (is_inlined_[at]) return false;
    if (node.is_call()) {
      const CodeTarget target = facts_.target_at(at);
      return node.next.size() == 1 && !facts_.may_allocate(target) && !facts_.may_throw(target);
    }
    return node.before.rsp && is_harmless(node.instruction) && node.has_all_ways;
  }

  /// By taking away, again and again, what leads nowhere else: a loop remains.
  bool has_loop() const {
    std::vector<std::size_t> ways(graph_.nodes.size());
    std::vector<std::vector<std::size_t>> from(graph_.nodes.size());
    std::vector<std::size_t> ending;
    std::size_t left = 0;
    for (std::size_t node = 0; node < values_.size(); ++node) {
      if (!values_[node]) continue;
      ++left;
      for (const std::size_t next : graph_.nodes[node].next) {
        if (!leads(node, next, *values_[node])) continue;
        ++ways[node];
        from[next].push_back(node);
      }
      if (ways[node] == 0) ending.push_back(node);
    }
    while (!ending.empty()) {
      const std::size_t node = ending.back();
      ending.pop_back();
      --left;
      for (const std::size_t previous : from[node]) {
        if (--ways[previous] == 0) ending.push_back(previous);
      }
    }
    return left != 0;
  }

  const CodeGraph& graph_;
  const std::vector<std::optional<ResultHolders>>& certain_;
  const std::vector<bool>& is_inlined_;
  const CalleeFacts& facts_;
  const Returned returned_;
  std::vector<std::optional<Values>> values_;
};

/// Argument registers, bits by number, that hold what the program has asked for.
std::uint32_t size_registers_at(const CallOperands& operands, std::size_t node, bool asks_for_product) {
  return operands.values()[node][asks_for_product ? kProduct : kSize].registers & kArgumentRegisters;
}

/// By the function that is called, if it is one of this file.
std::map<std::uint64_t, std::vector<std::size_t>> calls_by_callee(const CodeGraph& graph, const CalleeFacts& facts) {
  std::map<std::uint64_t, std::vector<std::size_t>> calls;
  for (std::size_t node = 0; node < graph.nodes.size(); ++node) {
    if (!graph.nodes[node].is_call() || graph.nodes[node].ends_program) continue;
    const CodeTarget target = facts.target_at(node);
    // What has a name may be defined by another file too.
    if (!target.vaddr || !target.name.empty()) continue;
    calls[*target.vaddr].push_back(node);
  }
  return calls;
}

}  // namespace

InlinedCalls find_inlined_calls(const CodeGraph& graph, const CallOperands& operands, bool asks_for_product,
                                const std::vector<std::optional<ResultHolders>>& certain, const CalleeFacts& facts) {
  for (const auto& [vaddr, nodes] : calls_by_callee(graph, facts)) {
    InlinedCalls found = {
        .callee_vaddr = vaddr, .size_register = 0, .calls = {}, .behind = std::vector<bool>(graph.nodes.size())};
    std::vector<bool> is_inlined(graph.nodes.size());
    std::uint32_t size_registers = ~0U;
    for (const std::size_t node : nodes) {
      is_inlined[node] = true;
      size_registers &= size_registers_at(operands, node, asks_for_product);
      const std::optional<InnerCall> frame = inner_call_at(graph.nodes[node]);
      if (frame) found.calls.push_back({node, *frame});
    }
    if (size_registers == 0 || found.calls.size() != nodes.size()) continue;
    found.size_register = static_cast<std::uint8_t>(std::countr_zero(size_registers));
    const bool all_return_it = std::all_of(nodes.begin(), nodes.end(), [&](std::size_t node) {
      const std::size_t next = graph.nodes[node].next.front();
      return PathsBehind(graph, certain, is_inlined, facts, Returned::kBlock).return_it(next, found.behind) &&
             PathsBehind(graph, certain, is_inlined, facts, Returned::kNull).return_it(next, found.behind);
    });
    // A function that is seen itself is none: nor is one that calls such.
    if (all_return_it && !facts.may_allocate(facts.target_at(nodes.front()))) return found;
  }
  return {};
}

CodeGraph without_returns_of(const CodeGraph& graph, const InlinedCalls& inlined) {
  std::vector<bool> is_inlined(graph.nodes.size());
  for (const InlinedCalls::Call& call : inlined.calls) is_inlined[call.node] = true;
  const std::vector<bool> reached =
      reached_from(graph, graph.entry, [&](std::size_t node) { return is_inlined[node]; });
  CodeGraph rest;
  std::vector<std::size_t> number(graph.nodes.size());
  for (std::size_t node = 0; node < graph.nodes.size(); ++node) {
    if (!reached[node]) continue;
    number[node] = rest.nodes.size();
    rest.nodes.push_back(graph.nodes[node]);
  }
  rest.entry = number[graph.entry];
  for (std::size_t node = 0; node < graph.nodes.size(); ++node) {
    if (!reached[node]) continue;
    CodeNode& copy = rest.nodes[number[node]];
    std::erase_if(copy.next, [&](std::size_t) { return is_inlined[node]; });
    std::erase_if(copy.previous, [&](std::size_t previous) { return !reached[previous] || is_inlined[previous]; });
    for (std::size_t& next : copy.next) next = number[next];
    for (std::size_t& previous : copy.previous) previous = number[previous];
  }
  return rest;
}

}  // namespace hawk
