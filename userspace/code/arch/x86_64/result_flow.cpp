#include "userspace/code/arch/x86_64/result_flow.h"

#include <algorithm>

namespace hawk {
namespace {

constexpr std::int64_t kWordBytes = 8;
constexpr std::uint32_t kRax = 1u << 0;
constexpr std::uint32_t kRsp = 1u << 4;
constexpr std::uint32_t kRdi = 1u << 7;
/// rbx, rbp, r12 to r15.
constexpr std::uint32_t kPreserved = 1u << 3 | 1u << 5 | 0xf000u;
constexpr std::uint64_t kMaxConstant = 4095;

/// What it takes to know the result before an instruction, of which it is known where it is after.
class BackStep {
 public:
  BackStep(const CodeNode& node, StackLimit limit, bool is_error_code)
      : node_(node), limit_(limit), is_narrow_(is_error_code) {}

  ResultHolders run(const ResultHolders& after) const {
    ResultHolders before = after;
    before.holders.registers &= ~node_.written;
    for (std::size_t number = 0; number < kGeneralRegisters.size(); ++number) {
      if ((after.holders.registers & node_.written) >> number & 1)
        take_source(static_cast<std::uint8_t>(number), before);
    }
    take_words(after, before);
    before.holders.registers &= ~kRsp;
    return before;
  }

 private:
  const Instruction& instruction() const { return node_.instruction; }

  /// What `number` is made of.
  void take_source(std::uint8_t number, ResultHolders& before) const {
    switch (instruction().decoded.mnemonic) {
      case ZYDIS_MNEMONIC_POP:
        if (is_whole(0, number) && node_.before.rsp) add_word(*node_.before.rsp, before);
        return;
      case ZYDIS_MNEMONIC_XOR:
        if (is_zeroed(number)) before.constant = 0;
        return;
      case ZYDIS_MNEMONIC_MOV:
        return take_moved(number, before);
      default:
        return;
    }
  }

  bool is_zeroed(std::uint8_t number) const {
    const ZydisDecodedOperand &to = instruction().operands[0], &from = instruction().operands[1];
    return to.type == ZYDIS_OPERAND_TYPE_REGISTER && from.type == ZYDIS_OPERAND_TYPE_REGISTER &&
           to.reg.value == from.reg.value && (to.size == 32 || to.size == 64) && is_part(to, number);
  }

  void take_moved(std::uint8_t number, ResultHolders& before) const {
    const ZydisDecodedOperand &to = instruction().operands[0], &from = instruction().operands[1];
    if (!is_part(to, number) || (to.size != 64 && to.size != 32)) return;
    if (from.type == ZYDIS_OPERAND_TYPE_IMMEDIATE && from.imm.value.u <= kMaxConstant) {
      before.constant = static_cast<std::uint32_t>(from.imm.value.u);
      return;
    }
    if (to.size == 32 && !is_narrow_) return;
    for (std::size_t source = 0; source < kGeneralRegisters.size(); ++source) {
      if (is_part(from, static_cast<std::uint8_t>(source))) before.holders.registers |= 1u << source;
    }
    if (from.type != ZYDIS_OPERAND_TYPE_MEMORY || from.size != 64) return;
    if (const auto word = stack_position(from, node_.before)) add_word(*word, before);
  }

  void take_words(const ResultHolders& after, ResultHolders& before) const {
    if (after.holders.words.empty()) return;
    const auto written = written_bytes();
    for (const Written& bytes : written) before.holders.drop_words(bytes.start, bytes.count);
    for (const std::int64_t word : after.holders.words) {
      for (const Written& bytes : written) {
        if (bytes.start != word || bytes.count != kWordBytes) continue;
        if (const auto number = register_number(instruction().operands[bytes.source])) {
          before.holders.registers |= 1u << *number;
        }
      }
    }
  }

  struct Written {
    std::int64_t start;
    std::int64_t count;
    std::size_t source;  ///< operand
  };
  std::vector<Written> written_bytes() const {
    std::vector<Written> written;
    const ZydisMnemonic mnemonic = instruction().decoded.mnemonic;
    if (mnemonic == ZYDIS_MNEMONIC_PUSH && node_.before.rsp) {
      written.push_back({*node_.before.rsp - kWordBytes, kWordBytes, 0});
      return written;
    }
    const std::size_t source = mnemonic == ZYDIS_MNEMONIC_MOV ? 1 : instruction().operands.size() - 1;
    for (std::size_t i = 0; i < instruction().decoded.operand_count; ++i) {
      const ZydisDecodedOperand& operand = instruction().operands[i];
      if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY || (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) == 0)
        continue;
      if (const auto start = stack_position(operand, node_.before))
        written.push_back({*start, operand.size / 8, source});
    }
    return written;
  }

  bool is_part(const ZydisDecodedOperand& operand, std::uint8_t number) const {
    return operand.type == ZYDIS_OPERAND_TYPE_REGISTER && (operand.size == 64 || operand.size == 32) &&
           ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, operand.reg.value) == kGeneralRegisters[number];
  }
  bool is_whole(std::size_t operand, std::uint8_t number) const {
    return instruction().is_register(operand, kGeneralRegisters[number]);
  }
  void add_word(std::int64_t word, ResultHolders& before) const {
    const bool is_private = word + kWordBytes <= limit_ && word < 0 && node_.before.rsp && word >= *node_.before.rsp;
    if (is_private) before.holders.add_word(word);
  }

  const CodeNode& node_;
  const StackLimit limit_;
  const bool is_narrow_;
};

/// Whether the instruction writes to memory that is not the function's own.
bool writes_elsewhere(const CodeNode& node) {
  const auto operands = node.instruction.all_operands();
  return std::any_of(operands.begin(), operands.end(), [&](const ZydisDecodedOperand& operand) {
    return is_written_memory(operand) && !stack_position(operand, node.before);
  });
}

/// Whether a `ret` returns to the caller what the ABI says.
bool is_plain_return(const CodeNode& node) {
  const bool is_plain = node.is_returning_jump() || node.instruction.decoded.operand_count_visible == 0;
  return is_plain && node.before.rsp == 0 && !node.before.rbp_changed;
}

/// Before a call that returns its first argument.
ResultHolders before_call(const CodeNode& node, const ResultHolders& after) {
  ResultHolders before = after;
  before.holders.registers &= kPreserved;
  if ((after.holders.registers & kRax) != 0) before.holders.registers |= kRdi;
  std::erase_if(before.holders.words, [&](std::int64_t word) { return word < *node.before.rsp; });
  return before;
}

std::optional<ResultHolders> result_at(const CodeGraph& graph, std::size_t at,
                                       const std::vector<std::optional<ResultHolders>>& certain, StackLimit limit,
                                       bool is_error_code) {
  const CodeNode& node = graph.nodes[at];
  if (node.is_return()) {
    if (!is_plain_return(node)) return std::nullopt;
    if (node.is_returning_jump() && is_error_code) return std::nullopt;
    return ResultHolders{.holders = {.registers = node.is_returning_jump() ? kRdi : kRax, .words = {}},
                         .constant = std::nullopt};
  }
  const bool is_passed = node.is_call() && node.returns_first_argument && node.next.size() == 1 && !is_error_code;
  if (is_passed && node.before.rsp) {
    const ResultHolders before = before_call(node, *certain[node.next.front()]);
    return before.empty() ? std::nullopt : std::optional(before);
  }
  if (!node.before.rsp || !is_harmless(node.instruction) || !node.has_all_ways) return std::nullopt;
  // A block is found where it has been stored.
  if (is_error_code && writes_elsewhere(node)) return std::nullopt;
  std::optional<ResultHolders> after;
  for (const std::size_t next : node.next) {
    if (graph.nodes[next].ends_program) continue;
    const ResultHolders way = on_way(graph, at, next, *certain[next]);
    after = after ? common(*after, way) : way;
  }
  if (!after) return std::nullopt;
  const ResultHolders before = BackStep(node, limit, is_error_code).run(*after);
  return before.empty() ? std::nullopt : std::optional(before);
}

}  // namespace

ResultHolders common(const ResultHolders& a, const ResultHolders& b) {
  ResultHolders both{.holders = common(a.holders, b.holders), .constant = std::nullopt};
  if (a.constant == b.constant) both.constant = a.constant;
  return both;
}

ResultHolders on_way(const CodeGraph& graph, std::size_t from, std::size_t next, const ResultHolders& at_next) {
  ResultHolders way = at_next;
  if (at_next.constant == std::uint32_t{0}) way.holders.registers |= zero_on_way(graph, from, next);
  return way;
}

std::vector<std::optional<ResultHolders>> follow_results(const CodeGraph& graph, bool is_error_code) {
  const StackLimit limit = private_limit(graph);
  std::vector<std::optional<ResultHolders>> certain(graph.nodes.size());
  std::vector<std::size_t> ready;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (graph.nodes[i].is_return()) ready.push_back(i);
  }
  // An instruction is looked at when all that may follow it are known to be certain, which never comes about in a loop.
  while (!ready.empty()) {
    const std::size_t at = ready.back();
    ready.pop_back();
    if (certain[at]) continue;
    certain[at] = result_at(graph, at, certain, limit, is_error_code);
    if (!certain[at]) continue;
    for (const std::size_t previous : graph.nodes[at].previous) {
      const std::vector<std::size_t>& next = graph.nodes[previous].next;
      const auto is_settled = [&](std::size_t node) { return certain[node] || graph.nodes[node].ends_program; };
      if (std::all_of(next.begin(), next.end(), is_settled)) {
        ready.push_back(previous);
      }
    }
  }
  return certain;
}

}  // namespace hawk
