#include "userspace/code/arch/x86_64/code_graph.h"

#include <algorithm>

namespace hawk {

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

CodeGraph graph_of(BranchTargets& resolver, std::uint64_t entry_vaddr, const FunctionWalk& walk) {
  CodeGraph graph;
  graph.nodes.reserve(walk.steps.size());
  for (const auto& [vaddr, step] : walk.steps) {
    std::optional<Instruction> instruction = decode_at(resolver.image(), vaddr);
    if (!instruction) continue;
    CodeNode node;
    node.before = step.before;
    node.has_all_ways = has_all_ways(*instruction, step);
    node.is_emulated = instruction->is_emulated_by_kernel();
    for (std::size_t number = 0; number < kGeneralRegisters.size(); ++number) {
      if (instruction->writes(kGeneralRegisters[number])) node.written |= 1u << number;
    }
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
  graph.entry = graph.find(entry_vaddr).value_or(0);
  return graph;
}

}  // namespace hawk
