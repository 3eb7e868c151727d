#include "userspace/code/arch/x86_64/code_graph.h"

#include <algorithm>
#include <limits>

namespace hawk {
namespace {

constexpr std::uint32_t kRax = 1u << 0;

/// Whether it leads there alone, and nowhere else that could be returned from.
bool leads_to_end(const CodeNode& node, const std::vector<CodeNode>& nodes) {
  if (node.next.empty() || node.is_call() || !node.has_all_ways) return false;
  return std::all_of(node.next.begin(), node.next.end(), [&](std::size_t next) { return nodes[next].ends_program; });
}

/// From the calls and jumps that end the program backwards.
void spread_ends(CodeGraph& graph) {
  std::vector<std::size_t> pending;
  for (std::size_t node = 0; node < graph.nodes.size(); ++node) {
    if (graph.nodes[node].ends_program) pending.push_back(node);
  }
  while (!pending.empty()) {
    const std::size_t at = pending.back();
    pending.pop_back();
    for (const std::size_t previous : graph.nodes[at].previous) {
      CodeNode& node = graph.nodes[previous];
      if (node.ends_program || !leads_to_end(node, graph.nodes)) continue;
      node.ends_program = true;
      pending.push_back(previous);
    }
  }
}

/// Whether the walk has not gone where a call returns to, or a jump or branch leads.
bool leaves_out_way(const Instruction& instruction, const WalkStep& step) {
  switch (instruction.flow) {
    case Flow::kCall:
    case Flow::kIndirectCall:
    case Flow::kJump:
    case Flow::kIndirectJump:
      return step.successors.empty();
    case Flow::kBranch:
      return step.successors == std::vector{instruction.next_vaddr()};
    default:
      return false;
  }
}

/// Marks the nodes that lead back to themselves without a call: by Tarjan's strongly connected components, where a call
/// leads nowhere.
class TightLoops {
 public:
  explicit TightLoops(CodeGraph& graph) : nodes_(graph.nodes), order_(nodes_.size()), earliest_(nodes_.size()) {}

  void mark() {
    for (std::size_t node = 0; node < nodes_.size(); ++node) {
      if (order_[node] == 0) visit(node);
    }
  }

 private:
  /// Of nodes whose component is complete.
  static constexpr std::size_t kDone = std::numeric_limits<std::size_t>::max();

  void visit(std::size_t node) {
    order_[node] = earliest_[node] = ++visited_;
    open_.push_back(node);
    if (!nodes_[node].is_call()) {
      for (const std::size_t next : nodes_[node].next) {
        if (next == node) nodes_[node].in_tight_loop = true;
        if (order_[next] == 0) visit(next);
        if (order_[next] != kDone) earliest_[node] = std::min(earliest_[node], earliest_[next]);
      }
    }
    if (earliest_[node] != order_[node]) return;
    const bool is_loop = open_.back() != node;
    std::size_t member = 0;
    do {
      member = open_.back();
      open_.pop_back();
      order_[member] = kDone;
      if (is_loop) nodes_[member].in_tight_loop = true;
    } while (member != node);
  }

  std::vector<CodeNode>& nodes_;
  std::vector<std::size_t> order_;     ///< of visits, from 1; 0: not visited
  std::vector<std::size_t> earliest_;  ///< that a node leads back to
  std::vector<std::size_t> open_;
  std::size_t visited_ = 0;
};

/// Whether the kernel is asked for something, and has its answer in rax.
bool enters_kernel(const Instruction& instruction) {
  const ZydisInstructionCategory category = instruction.decoded.meta.category;
  return category == ZYDIS_CATEGORY_SYSCALL || category == ZYDIS_CATEGORY_INTERRUPT;
}

}  // namespace

bool is_harmless(const Instruction& instruction) {
  switch (instruction.decoded.meta.category) {
    case ZYDIS_CATEGORY_BINARY:
    case ZYDIS_CATEGORY_BITBYTE:
    case ZYDIS_CATEGORY_CMOV:
    case ZYDIS_CATEGORY_COND_BR:
    case ZYDIS_CATEGORY_DATAXFER:
    case ZYDIS_CATEGORY_LOGICAL:
    case ZYDIS_CATEGORY_LOGICAL_FP:
    case ZYDIS_CATEGORY_NOP:
    case ZYDIS_CATEGORY_POP:
    case ZYDIS_CATEGORY_PUSH:
    case ZYDIS_CATEGORY_ROTATE:
    case ZYDIS_CATEGORY_SETCC:
    case ZYDIS_CATEGORY_SHIFT:
    case ZYDIS_CATEGORY_UNCOND_BR:
    case ZYDIS_CATEGORY_WIDENOP:
      return true;
    default:
      return instruction.decoded.mnemonic == ZYDIS_MNEMONIC_LEA || instruction.decoded.mnemonic == ZYDIS_MNEMONIC_LEAVE;
  }
}

bool has_all_ways(const Instruction& instruction, const WalkStep& step) {
  std::vector<std::uint64_t> ways;
  if (instruction.flow == Flow::kNext || instruction.flow == Flow::kBranch) ways.push_back(instruction.next_vaddr());
  if (instruction.flow == Flow::kJump || instruction.flow == Flow::kBranch) ways.push_back(*instruction.target);
  std::sort(ways.begin(), ways.end());
  return !ways.empty() && ways == step.successors;
}

std::optional<std::uint8_t> register_number(const ZydisDecodedOperand& operand) {
  if (operand.type != ZYDIS_OPERAND_TYPE_REGISTER) return std::nullopt;
  const auto found = std::find(kGeneralRegisters.begin(), kGeneralRegisters.end(), operand.reg.value);
  if (found == kGeneralRegisters.end()) return std::nullopt;
  return static_cast<std::uint8_t>(found - kGeneralRegisters.begin());
}

std::optional<std::size_t> CodeGraph::find(std::uint64_t vaddr) const {
  const auto found =
      std::lower_bound(nodes.begin(), nodes.end(), vaddr,
                       [](const CodeNode& node, std::uint64_t wanted) { return node.instruction.vaddr < wanted; });
  if (found == nodes.end() || found->instruction.vaddr != vaddr) return std::nullopt;
  return static_cast<std::size_t>(found - nodes.begin());
}

CodeTarget target_of(BranchTargets& resolver, const Instruction& instruction) {
  if (instruction.target) return resolver.resolve(*instruction.target);
  return instruction.got_slot ? resolver.resolve_slot(*instruction.got_slot) : CodeTarget();
}

std::vector<bool> reached_over(const CodeGraph& graph, std::size_t start,
                               const std::function<bool(std::size_t, std::size_t)>& leads) {
  std::vector<bool> reached(graph.nodes.size());
  std::vector<std::size_t> pending = {start};
  reached[start] = true;
  while (!pending.empty()) {
    const std::size_t at = pending.back();
    pending.pop_back();
    for (const std::size_t next : graph.nodes[at].next) {
      if (reached[next] || !leads(at, next)) continue;
      reached[next] = true;
      pending.push_back(next);
    }
  }
  return reached;
}

std::vector<bool> reached_from(const CodeGraph& graph, std::size_t start,
                               const std::function<bool(std::size_t)>& ends) {
  return reached_over(graph, start, [&](std::size_t from, std::size_t) { return !ends(from); });
}

std::uint32_t zero_on_way(const CodeGraph& graph, std::size_t from, std::size_t next) {
  const CodeNode& branch = graph.nodes[from];
  const ZydisMnemonic mnemonic = branch.instruction.decoded.mnemonic;
  if (!branch.is_branch() || branch.previous.size() != 1) return 0;
  if (mnemonic != ZYDIS_MNEMONIC_JZ && mnemonic != ZYDIS_MNEMONIC_JNZ) return 0;
  const std::uint64_t taken = *branch.instruction.target, other = branch.instruction.next_vaddr();
  const std::uint64_t zero_at = mnemonic == ZYDIS_MNEMONIC_JZ ? taken : other;
  if (taken == other || graph.nodes[next].instruction.vaddr != zero_at) return 0;
  const Instruction& test = graph.nodes[branch.previous.front()].instruction;
  if (test.decoded.mnemonic != ZYDIS_MNEMONIC_TEST) return 0;
  const auto tested = register_number(test.operands[0]);
  return tested && tested == register_number(test.operands[1]) ? 1u << *tested : 0;
}

CodeGraph graph_of(BranchTargets& resolver, std::uint64_t entry_vaddr, const FunctionWalk& walk,
                   const std::function<bool(const CodeTarget&, const StackState&)>& ends_program) {
  CodeGraph graph;
  graph.nodes.reserve(walk.steps.size());
  for (const auto& [vaddr, step] : walk.steps) {
    std::optional<Instruction> instruction = decode_at(resolver.image(), vaddr);
    if (!instruction) continue;
    CodeNode node;
    node.before = step.before;
    const bool is_left_out = leaves_out_way(*instruction, step);
    const bool is_end = is_left_out && ends_program(target_of(resolver, *instruction), step.before);
    node.has_all_ways = has_all_ways(*instruction, step) || (is_end && !step.successors.empty());
    node.ends_program = step.successors.empty() && (is_end || instruction->flow == Flow::kEnd);
    node.is_emulated = instruction->is_emulated_by_kernel();
    for (std::size_t number = 0; number < kGeneralRegisters.size(); ++number) {
      if (instruction->writes(kGeneralRegisters[number])) node.written |= 1u << number;
    }
    if (enters_kernel(*instruction)) node.written |= kRax;
    node.instruction = *instruction;
    node.returns_first_argument =
        instruction->flow != Flow::kBranch && resolver.returns_first_argument(target_of(resolver, *instruction));
    graph.nodes.push_back(std::move(node));
  }
  for (std::size_t from = 0; from < graph.nodes.size(); ++from) {
    for (const std::uint64_t vaddr : walk.steps.at(graph.nodes[from].instruction.vaddr).successors) {
      const std::optional<std::size_t> to = graph.find(vaddr);
      if (!to) continue;
      graph.nodes[from].next.push_back(*to);
      graph.nodes[*to].previous.push_back(from);
    }
  }
  spread_ends(graph);
  TightLoops(graph).mark();
  graph.entry = graph.find(entry_vaddr).value_or(0);
  return graph;
}

}  // namespace hawk
