#include "userspace/code/arch/x86_64/value_flow.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "userspace/code/arch/x86_64/argument_areas.h"

namespace hawk {
namespace {

constexpr std::int64_t kWordBytes = 8;
constexpr std::uint32_t kRax = 1u << 0;
/// rbx, rbp, r12 to r15.
constexpr std::uint32_t kPreserved = 1u << 3 | 1u << 5 | 0xf000u;

bool is_memory(const ZydisDecodedOperand& operand) { return operand.type == ZYDIS_OPERAND_TYPE_MEMORY; }
bool is_written(const ZydisDecodedOperand& operand) { return (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0; }

/// Where the stack address lies that `operand` computes with; nullopt: it does not, or that is not known.
std::optional<std::int64_t> address_in(const ZydisDecodedOperand& operand, const StackState& state) {
  ZydisDecodedOperand without_index = operand;
  without_index.mem.index = ZYDIS_REGISTER_NONE;
  return stack_position(without_index, state);
}

bool is_based_on(const ZydisDecodedOperand& operand, ZydisRegister base) {
  return is_memory(operand) && (operand.mem.base == base || operand.mem.index == base);
}

/// Whether it writes elsewhere than its operand says: pop computes the address with rsp as it leaves it, and a bit
/// whose number is in a register may be in any word.
bool writes_beside(const Instruction& instruction) {
  switch (instruction.decoded.mnemonic) {
    case ZYDIS_MNEMONIC_POP:
      return is_memory(instruction.operands[0]);
    case ZYDIS_MNEMONIC_BTC:
    case ZYDIS_MNEMONIC_BTR:
    case ZYDIS_MNEMONIC_BTS:
      return is_memory(instruction.operands[0]) && instruction.operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER;
    default:
      return false;
  }
}

/// From where upwards the instruction lets others reach the stack.
StackLimit limit_after(const CodeNode& node, bool has_frame_pointer) {
  const Instruction& instruction = node.instruction;
  const ZydisMnemonic mnemonic = instruction.decoded.mnemonic;
  StackLimit limit = std::numeric_limits<std::int64_t>::max();
  const auto lower = [&](std::optional<std::int64_t> to) { limit = std::min(limit, to.value_or(kNothingPrivate)); };
  const bool moves_frame = mnemonic == ZYDIS_MNEMONIC_MOV && (instruction.is_register(0, ZYDIS_REGISTER_RBP) ||
                                                              instruction.is_register(0, ZYDIS_REGISTER_RSP));
  for (const ZydisDecodedOperand& operand : instruction.all_operands()) {
    const bool by_rsp = is_based_on(operand, ZYDIS_REGISTER_RSP);
    const bool by_frame = is_based_on(operand, ZYDIS_REGISTER_RBP) && node.before.rbp_changed && has_frame_pointer;
    if (by_frame && !node.before.rbp && (is_written(operand) || mnemonic == ZYDIS_MNEMONIC_LEA)) lower(std::nullopt);
    if (!by_rsp && !(by_frame && node.before.rbp)) continue;
    if (is_written(operand) && writes_beside(instruction)) lower(std::nullopt);
    const bool has_index = operand.mem.index != ZYDIS_REGISTER_NONE;
    const bool takes_address = mnemonic == ZYDIS_MNEMONIC_LEA && !instruction.is_register(0, ZYDIS_REGISTER_RSP);
    if (takes_address || (has_index && is_written(operand))) lower(address_in(operand, node.before));
  }
  if (moves_frame || mnemonic == ZYDIS_MNEMONIC_LEAVE) return limit;
  // Hidden uses by push, pop, call and ret move rsp and show nothing.
  for (const ZydisDecodedOperand& operand :
       instruction.all_operands().first(instruction.decoded.operand_count_visible)) {
    const bool is_read = (operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
    if (operand.type != ZYDIS_OPERAND_TYPE_REGISTER || !is_read) continue;
    const bool is_adjusted = &operand == instruction.operands.data() &&
                             instruction.is_register(0, ZYDIS_REGISTER_RSP) && mnemonic != ZYDIS_MNEMONIC_PUSH;
    if (operand.reg.value == ZYDIS_REGISTER_RSP && !is_adjusted) {
      lower(mnemonic == ZYDIS_MNEMONIC_MOV ? node.before.rsp : std::nullopt);
    }
    if (operand.reg.value == ZYDIS_REGISTER_RBP && node.before.rbp_changed && has_frame_pointer &&
        mnemonic != ZYDIS_MNEMONIC_POP) {
      lower(mnemonic == ZYDIS_MNEMONIC_MOV ? node.before.rbp : std::nullopt);
    }
  }
  return limit;
}

/// One instruction's effect on the values.
class Step {
 public:
  /// `argument_limit`: of a call, see ArgumentAreas.
  Step(const CodeNode& node, StackLimit limit, std::int64_t argument_limit)
      : node_(node), instruction_(node.instruction), limit_(limit), argument_limit_(argument_limit) {}

  Values run(const Values& before) {
    Values after;
    for (std::size_t i = 0; i < before.size(); ++i) after[i] = moved(before[i]);
    if (makes_product(before)) add_product(after[kProduct]);
    for (Holders& holders : after) keep_private(holders);
    return after;
  }

 private:
  Holders moved(const Holders& before) const {
    Holders after = before;
    after.registers &= node_.is_call() ? kPreserved : ~node_.written;
    drop_written(after);
    copy(before, after);
    return after;
  }

  void drop_written(Holders& holders) const {
    if (holders.words.empty()) return;
    for (const ZydisDecodedOperand& operand : instruction_.all_operands()) {
      if (!is_memory(operand) || !is_written(operand) || node_.is_call()) continue;
      if (const auto start = stack_position(operand, node_.before)) holders.drop_words(*start, operand.size / 8);
    }
    if (instruction_.decoded.mnemonic == ZYDIS_MNEMONIC_PUSH && node_.before.rsp) {
      holders.drop_words(*node_.before.rsp - kWordBytes, kWordBytes);
    }
  }

  void copy(const Holders& before, Holders& after) const {
    const ZydisMnemonic mnemonic = instruction_.decoded.mnemonic;
    const bool is_wide = instruction_.decoded.operand_width == 64;
    if (mnemonic == ZYDIS_MNEMONIC_PUSH && is_wide && node_.before.rsp && is_held(before, 0)) {
      after.add_word(*node_.before.rsp - kWordBytes);
    }
    if (mnemonic == ZYDIS_MNEMONIC_POP && is_wide && node_.before.rsp && before.holds(*node_.before.rsp)) {
      add(after, 0);
    }
    if (mnemonic == ZYDIS_MNEMONIC_MOV && is_held(before, 1)) add(after, 0);
  }

  bool is_held(const Holders& holders, std::size_t operand) const {
    const ZydisDecodedOperand& from = instruction_.operands[operand];
    if (const auto number = register_number(from)) return (holders.registers >> *number & 1) != 0;
    const auto word = stack_word(from, node_.before);
    return word && holders.holds(*word);
  }

  void add(Holders& holders, std::size_t operand) const {
    const ZydisDecodedOperand& to = instruction_.operands[operand];
    if (const auto number = register_number(to)) {
      holders.registers |= 1u << *number;
    } else if (const auto word = stack_word(to, node_.before)) {
      holders.add_word(*word);
    }
  }

  bool multiplies(const Values& before, std::size_t a, std::size_t b) const {
    const auto holds = [&](std::size_t value, std::size_t operand) { return is_held(before[value], operand); };
    const auto in_rax = [&](std::size_t value) { return (before[value].registers & kRax) != 0; };
    if (instruction_.decoded.mnemonic == ZYDIS_MNEMONIC_MUL) return in_rax(a) && holds(b, 0);
    return holds(a, 0) && holds(b, 1);
  }

  bool makes_product(const Values& before) const {
    const bool is_product =
        instruction_.decoded.mnemonic == ZYDIS_MNEMONIC_MUL ||
        (instruction_.decoded.mnemonic == ZYDIS_MNEMONIC_IMUL && instruction_.decoded.operand_count_visible == 2);
    if (!is_product || instruction_.decoded.operand_width != 64) return false;
    return multiplies(before, 0, 1) || multiplies(before, 1, 0);
  }

  void add_product(Holders& product) const {
    if (instruction_.decoded.mnemonic == ZYDIS_MNEMONIC_MUL) {
      product.registers |= kRax;
    } else {
      add(product, 0);
    }
  }

  /// Below rsp nothing is safe, nor is it where others may write.
  void keep_private(Holders& holders) const {
    if (holders.words.empty()) return;
    const StackState state = after(instruction_, node_.before);
    std::erase_if(holders.words, [&](std::int64_t word) {
      return !state.rsp || word < *state.rsp || word + kWordBytes > limit_ || word >= 0 || word < argument_limit_;
    });
  }

  const CodeNode& node_;
  const Instruction& instruction_;
  const StackLimit limit_;
  const std::int64_t argument_limit_;
};

Values common(const Values& a, const Values& b) {
  Values both;
  for (std::size_t i = 0; i < a.size(); ++i) both[i] = common(a[i], b[i]);
  return both;
}

}  // namespace

bool Holders::holds(std::int64_t word) const { return std::binary_search(words.begin(), words.end(), word); }

void Holders::add_word(std::int64_t word) {
  const auto at = std::lower_bound(words.begin(), words.end(), word);
  if (at == words.end() || *at != word) words.insert(at, word);
}

void Holders::drop_words(std::int64_t start, std::int64_t bytes) {
  std::erase_if(words, [&](std::int64_t word) { return word < start + bytes && start < word + kWordBytes; });
}

Holders common(const Holders& a, const Holders& b) {
  Holders both{.registers = a.registers & b.registers, .words = {}};
  std::set_intersection(a.words.begin(), a.words.end(), b.words.begin(), b.words.end(), std::back_inserter(both.words));
  return both;
}

std::optional<std::int64_t> stack_word(const ZydisDecodedOperand& operand, const StackState& state) {
  return operand.size == 64 ? stack_position(operand, state) : std::nullopt;
}

StackLimit private_limit(const CodeGraph& graph) {
  const bool has_frame_pointer = std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const CodeNode& node) {
    return after(node.instruction, node.before).rbp.has_value();
  });
  StackLimit limit = std::numeric_limits<std::int64_t>::max();
  for (const CodeNode& node : graph.nodes) limit = std::min(limit, limit_after(node, has_frame_pointer));
  // What is below an address may be a part of the same object: an array, to the middle of which it leads.
  return limit == std::numeric_limits<std::int64_t>::max() ? limit : kNothingPrivate;
}

std::vector<std::optional<Values>> follow_values_from(const CodeGraph& graph, std::size_t start, const Values& at_start,
                                                      const Leads& leads) {
  const StackLimit limit = private_limit(graph);
  const ArgumentAreas arguments(graph);
  std::vector<std::optional<Values>> before(graph.nodes.size());
  std::vector<std::size_t> pending;
  const auto reach = [&](std::size_t node, const Values& values) {
    const Values merged = before[node] ? common(*before[node], values) : values;
    if (before[node] == merged) return;
    before[node] = merged;
    pending.push_back(node);
  };
  if (start < graph.nodes.size()) reach(start, at_start);
  while (!pending.empty()) {
    const std::size_t at = pending.back();
    pending.pop_back();
    const Values after = Step(graph.nodes[at], limit, arguments.end_at(at)).run(*before[at]);
    for (const std::size_t next : graph.nodes[at].next) {
      if (leads(at, next, *before[at])) reach(next, after);
    }
  }
  return before;
}

std::vector<Values> follow_values(const CodeGraph& graph, std::span<const std::optional<std::uint8_t>> passed_in) {
  Values at_entry;
  for (std::size_t i = 0; i < passed_in.size(); ++i) {
    if (passed_in[i]) at_entry[i].registers = 1u << *passed_in[i];
  }
  const auto everywhere = [](std::size_t, std::size_t, const Values&) { return true; };
  std::vector<Values> known;
  known.reserve(graph.nodes.size());
  for (std::optional<Values>& values : follow_values_from(graph, graph.entry, at_entry, everywhere))
    known.push_back(values ? std::move(*values) : Values());
  return known;
}

}  // namespace hawk
