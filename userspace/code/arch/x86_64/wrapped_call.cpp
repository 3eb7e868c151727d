#include "userspace/code/arch/x86_64/wrapped_call.h"

#include <array>

#include "userspace/code/arch/x86_64/call_operands.h"

namespace hawk {
namespace {

constexpr std::int64_t kWordBytes = 8;
constexpr std::uint32_t kRax = 1u << 0;
/// rbx, rbp, r12 to r15, and rsp.
constexpr std::uint32_t kPreserved = 1u << 3 | 1u << 4 | 1u << 5 | 0xf000u;
constexpr std::size_t kRegisters = 16;
/// The low four bits of `jz`; those of `jnz` are one more.
constexpr unsigned kIfZero = 4;
/// More than is behind any such call.
constexpr std::size_t kMostInstructions = 64;

/// Runs the instructions behind the call, for one of the two results that it can have.
class Epilogue {
 public:
  Epilogue(const CodeGraph& graph, const std::vector<Values>& values,
           const std::function<bool(std::size_t)>& may_allocate, bool is_null)
      : graph_(graph), values_(values), may_allocate_(may_allocate), is_null_(is_null) {}

  /// Whether the function does what it should with that result, from `start` on.
  bool is_right(std::size_t start) {
    std::optional<std::size_t> at = start;
    first_branch_.reset();
    for (std::size_t i = 0; at && i < kMostInstructions; ++i) {
      const CodeNode& node = graph_.nodes[*at];
      if (node.is_return()) return node.instruction.flow == Flow::kReturn && returns_right(node);
      const std::optional<std::size_t> next = next_of(node);
      if (!run(*at)) return false;
      if (node.is_branch() && next && !first_branch_) first_branch_ = {*at, *next};
      at = next;
    }
    return false;
  }

  /// The first branch that the last run has come by.
  const std::optional<WrappedCall::Branch>& first_branch() const { return first_branch_; }

 private:
  bool returns_right(const CodeNode& node) const {
    if (node.before.rsp != 0) return false;
    const std::optional<std::uint64_t> returned = constants_[0];
    return is_null_ ? stores_ == 0 && returned != 0U : stores_ == 1 && returned == 0U;
  }

  std::optional<std::size_t> next_of(const CodeNode& node) const {
    const Instruction& instruction = node.instruction;
    switch (instruction.flow) {
      case Flow::kNext:
      case Flow::kCall:
        return graph_.find(instruction.next_vaddr());
      case Flow::kJump:
        return graph_.find(*instruction.target);
      case Flow::kBranch: {
        const unsigned condition = instruction.decoded.opcode & 15;
        if (!is_zero_ || (condition & ~1U) != kIfZero) return std::nullopt;
        const bool is_taken = *is_zero_ == (condition == kIfZero);
        return graph_.find(is_taken ? *instruction.target : instruction.next_vaddr());
      }
      default:
        return std::nullopt;
    }
  }

  bool run(std::size_t at) {
    const CodeNode& node = graph_.nodes[at];
    const Instruction& instruction = node.instruction;
    if (node.is_call()) return is_null_ && call(at);
    const ZydisMnemonic mnemonic = instruction.decoded.mnemonic;
    if (mnemonic == ZYDIS_MNEMONIC_MOV) return move(at);
    if (node.is_branch() || instruction.flow == Flow::kJump || mnemonic == ZYDIS_MNEMONIC_NOP) return true;
    if (!is_harmless(instruction) || instruction.writes_memory()) return false;
    const bool is_cleared = is_zeroing(instruction), tests = is_test(instruction);
    forget(node.written);
    if (is_cleared) constants_[*wide_register_number(instruction.operands[0])] = 0;
    const bool keeps_flags = mnemonic == ZYDIS_MNEMONIC_LEA || mnemonic == ZYDIS_MNEMONIC_POP;
    if (!keeps_flags) is_zero_ = tests ? std::optional(is_null_) : std::nullopt;
    return true;
  }

  /// To ask where errno is, for one.
  bool call(std::size_t at) {
    if (may_allocate_(at)) return false;
    forget(~kPreserved);
    is_zero_.reset();
    return true;
  }

  /// `test r, r` of all 64 bits of the result.
  bool is_test(const Instruction& instruction) const {
    const auto first = register_number(instruction.operands[0]), second = register_number(instruction.operands[1]);
    return instruction.decoded.mnemonic == ZYDIS_MNEMONIC_TEST && first && first == second &&
           (holders_ >> *first & 1) != 0;
  }

  static bool is_zeroing(const Instruction& instruction) {
    const auto &to = instruction.operands[0], &from = instruction.operands[1];
    return instruction.decoded.mnemonic == ZYDIS_MNEMONIC_XOR && wide_register_number(to) &&
           from.type == ZYDIS_OPERAND_TYPE_REGISTER && to.reg.value == from.reg.value;
  }

  bool move(std::size_t at) {
    const CodeNode& node = graph_.nodes[at];
    const auto &to = node.instruction.operands[0], &from = node.instruction.operands[1];
    if (to.type == ZYDIS_OPERAND_TYPE_MEMORY) return store(at);
    const auto whole = register_number(to), source = register_number(from);
    const bool is_result = whole && source && (holders_ >> *source & 1) != 0;
    forget(node.written);
    if (is_result) holders_ |= 1U << *whole;
    const auto wide = wide_register_number(to);
    if (wide && from.type == ZYDIS_OPERAND_TYPE_IMMEDIATE) constants_[*wide] = from.imm.value.u;
    return true;
  }

  /// To the function's own frame, or of the result to where the program says.
  bool store(std::size_t at) {
    const CodeNode& node = graph_.nodes[at];
    const auto &to = node.instruction.operands[0], &from = node.instruction.operands[1];
    if (const auto position = stack_position(to, node.before)) return *position < 0;
    const auto source = register_number(from);
    const bool is_result = source && (holders_ >> *source & 1) != 0;
    const bool is_plain = to.size == 64 && to.mem.index == ZYDIS_REGISTER_NONE && to.mem.disp.value == 0 &&
                          to.mem.segment != ZYDIS_REGISTER_FS && to.mem.segment != ZYDIS_REGISTER_GS;
    if (!is_result && is_null_) return !is_argument(at, to.mem.base);  // errno
    if (!is_result || !is_plain || !is_argument(at, to.mem.base)) return false;
    ++stores_;
    return true;
  }

  /// Whether the register says where the program wants its block.
  bool is_argument(std::size_t at, ZydisRegister base) const {
    for (std::size_t number = 0; number < kRegisters; ++number) {
      if (kGeneralRegisters[number] == base) return (values_[at][kBlock].registers >> number & 1) != 0;
    }
    return false;
  }

  void forget(std::uint32_t registers) {
    holders_ &= ~registers;
    for (std::size_t number = 0; number < kRegisters; ++number) {
      if ((registers >> number & 1) != 0) constants_[number].reset();
    }
  }

  const CodeGraph& graph_;
  const std::vector<Values>& values_;
  const std::function<bool(std::size_t)>& may_allocate_;
  const bool is_null_;
  std::uint32_t holders_ = kRax;  ///< of the result
  std::array<std::optional<std::uint64_t>, kRegisters> constants_;
  std::optional<bool> is_zero_;  ///< what the flag says
  unsigned stores_ = 0;
  std::optional<WrappedCall::Branch> first_branch_;
};

/// nullopt: there is none, or several.
std::optional<std::size_t> only_call(const CodeGraph& graph, const std::function<bool(std::size_t)>& may_allocate) {
  std::optional<std::size_t> call;
  for (std::size_t node = 0; node < graph.nodes.size(); ++node) {
    if (!graph.nodes[node].is_call() || graph.nodes[node].ends_program || !may_allocate(node)) continue;
    if (call) return std::nullopt;
    call = node;
  }
  return call;
}

}  // namespace

std::optional<InnerCall> inner_call_at(const CodeNode& call) {
  const StackState& stack = call.before;
  if (call.instruction.flow != Flow::kCall || !call.instruction.target || call.next.size() != 1) return std::nullopt;
  if (!stack.rsp || *stack.rsp > 0 || *stack.rsp % kWordBytes != 0) return std::nullopt;
  InnerCall inner = {.words = static_cast<std::uint32_t>((kWordBytes - *stack.rsp) / kWordBytes),
                     .saved_rbp_words = std::nullopt,
                     .return_vaddr = call.instruction.next_vaddr()};
  if (!stack.rbp_changed) return inner;
  if (!stack.saved_rbp || *stack.saved_rbp >= 0 || *stack.saved_rbp % kWordBytes != 0) return std::nullopt;
  inner.saved_rbp_words = static_cast<std::uint32_t>(-*stack.saved_rbp / kWordBytes);
  return inner;
}

std::optional<WrappedCall> find_wrapped_call(const CodeGraph& graph, const std::vector<Values>& values,
                                             const std::function<bool(std::size_t)>& may_allocate) {
  const std::optional<std::size_t> node = only_call(graph, may_allocate);
  if (!node) return std::nullopt;
  const CodeNode& call = graph.nodes[*node];
  const std::optional<InnerCall> inner = inner_call_at(call);
  if (!inner) return std::nullopt;
  const std::size_t next = call.next.front();
  const std::vector<bool> before = reached_from(graph, graph.entry, [&](std::size_t at) { return at == *node; });
  const std::vector<bool> behind = reached_from(graph, next, [](std::size_t) { return false; });
  if (behind[*node]) return std::nullopt;
  Epilogue made(graph, values, may_allocate, false), failed(graph, values, may_allocate, true);
  if (!made.is_right(next) || !failed.is_right(next)) return std::nullopt;
  WrappedCall found = {
      .node = *node, .target = {}, .inner = *inner, .failures = {}, .judged_at = failed.first_branch()};
  for (std::size_t at = 0; at < graph.nodes.size(); ++at) {
    if (!before[at] || !graph.nodes[at].is_return()) continue;
    const bool is_own = graph.nodes[at].instruction.flow == Flow::kReturn && graph.nodes[at].before.rsp == 0;
    if (!is_own || behind[at]) return std::nullopt;
    found.failures.push_back(at);
  }
  return found;
}

}  // namespace hawk
