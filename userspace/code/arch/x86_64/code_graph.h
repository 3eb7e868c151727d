#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "userspace/code/arch/x86_64/instruction.h"
#include "userspace/code/function_walk.h"

namespace hawk {

/// One instruction of a CodeGraph. Others are named by their index.
struct CodeNode {
  Instruction instruction;
  StackState before;
  std::vector<std::size_t> next;  ///< where paths go on; a jump that ends them is not among these
  std::vector<std::size_t> previous;
  /// `next` is where the processor goes, whatever other files define, unless it goes to the end of the program.
  bool has_all_ways = false;
  bool ends_program = false;  ///< no path from it returns or throws
  /// It may run over and over again with no call in between: a probe there could cost more than it saves.
  bool in_tight_loop = false;
  bool is_emulated = false;   ///< by the kernel
  std::uint32_t written = 0;  ///< registers that are changed, bits by number
  /// It is a call of, or a jump to, a function that returns its first argument and does nothing else that matters.
  bool returns_first_argument = false;

  bool is_call() const { return instruction.flow == Flow::kCall || instruction.flow == Flow::kIndirectCall; }
  /// Also a jump to what returns in its place.
  bool is_return() const { return instruction.flow == Flow::kReturn || is_returning_jump(); }
  bool is_returning_jump() const { return returns_first_argument && !is_call(); }
  bool is_branch() const { return instruction.flow == Flow::kBranch; }
};

/// What a walk has found, to be computed on.
struct CodeGraph {
  std::vector<CodeNode> nodes;  ///< by ascending vaddr
  std::size_t entry = 0;

  std::optional<std::size_t> find(std::uint64_t vaddr) const;
};

/// Where a jump, branch or call leads; nothing: somewhere that is known at run time only, or it is none.
CodeTarget target_of(BranchTargets& resolver, const Instruction& instruction);

/// `walk` must be complete and have steps. `ends_program`: whether a call or jump to the target, in that state, neither
/// returns nor throws.
CodeGraph graph_of(BranchTargets& resolver, std::uint64_t entry_vaddr, const FunctionWalk& walk,
                   const std::function<bool(const CodeTarget&, const StackState&)>& ends_program);

/// Nodes that paths from `start` come by, that one included. They go from one node to the next where that `leads` on.
std::vector<bool> reached_over(const CodeGraph& graph, std::size_t start,
                               const std::function<bool(std::size_t from, std::size_t next)>& leads);
/// The same, where no path goes on behind a node where it `ends`.
std::vector<bool> reached_from(const CodeGraph& graph, std::size_t start, const std::function<bool(std::size_t)>& ends);

/// Registers, bits by number, that are 0 on the way from a node to `next`: what a branch has tested.
std::uint32_t zero_on_way(const CodeGraph& graph, std::size_t from, std::size_t next);

/// Instructions that do nothing but compute, move and branch.
bool is_harmless(const Instruction& instruction);
/// Whether the walk has followed the instruction to where the processor goes: not, for one, to what a PLT stub stands
/// for, which another file may define as well, nor only one of the two ways of a branch.
bool has_all_ways(const Instruction& instruction, const WalkStep& step);
/// The number that instructions encode the register operand with; nullopt: it is none, or not a whole 64-bit one.
std::optional<std::uint8_t> register_number(const ZydisDecodedOperand& operand);

}  // namespace hawk
