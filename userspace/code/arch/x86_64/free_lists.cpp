#include "userspace/code/arch/x86_64/free_lists.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>

#include "bpf/yield_points.h"
#include "userspace/code/arch/x86_64/yield_seats.h"

namespace hawk {
namespace {

constexpr std::uint8_t kRsp = 4;
/// The furthest that a class, which is a byte, can be shifted within 32 bits.
constexpr std::uint64_t kMostClassShift = 23;
constexpr std::uint64_t kMostSizeShift = 31;

/// What a register holds, as far as it leads from the size to a block. What is known of the list so far is in `list`.
struct Held {
  enum class Kind : std::uint8_t {
    kUnknown,
    kAsBefore,  ///< what `number` held at the point, all 64 bits
    kAddress,   ///< an address of the file's
    kSize,      ///< the size as it is rounded
    kClass,     ///< its class, shifted
    kHead,      ///< where the list's first block stands
    kBlock,     ///< what stands there
  };
  Kind kind = Kind::kUnknown;
  std::uint8_t number = 0;
  std::uint64_t address = 0;
  FreeList list = {};
};

bool is_memory(const ZydisDecodedOperand& operand) { return operand.type == ZYDIS_OPERAND_TYPE_MEMORY; }

std::optional<std::uint64_t> immediate(const ZydisDecodedOperand& operand) {
  return operand.type == ZYDIS_OPERAND_TYPE_IMMEDIATE ? std::optional(operand.imm.value.u) : std::nullopt;
}

/// `head` moved by `bytes`; unknown if that is too far.
Held moved(Held head, std::int64_t bytes) {
  const std::int64_t sum = head.list.head + bytes;
  head.list.head = static_cast<std::int32_t>(sum);
  return head.list.head == sum ? head : Held();
}

/// What the registers hold on one way through the code.
class Registers {
 public:
  explicit Registers(std::uint32_t size_register) : size_register_(size_register) {
    for (std::size_t number = 0; number < held_.size(); ++number)
      held_[number] = {.kind = Held::Kind::kAsBefore, .number = static_cast<std::uint8_t>(number)};
  }

  /// False: it may do more than compute and load, or moves the stack.
  bool run(const CodeNode& node) {
    const Instruction& instruction = node.instruction;
    if (!is_harmless(instruction) || instruction.writes_memory() || (node.written >> kRsp & 1) != 0) return false;
    const std::optional<std::size_t> to = wide_register_number(instruction.operands[0]);
    const Held made = to ? result_of(instruction) : Held();
    for (std::size_t number = 0; number < held_.size(); ++number) {
      if ((node.written >> number & 1) != 0) held_[number] = number == to ? made : Held();
    }
    return true;
  }

  /// The list that `number` holds the first block of; nullopt: of none.
  std::optional<FreeList> block_in(std::uint32_t number) const {
    return held_[number].kind == Held::Kind::kBlock ? std::optional(held_[number].list) : std::nullopt;
  }

  bool replaces_first(const Instruction& instruction, const FreeList& list) const {
    const ZydisDecodedOperand& to = instruction.operands[0];
    if (instruction.decoded.mnemonic != ZYDIS_MNEMONIC_MOV || !is_memory(to) || to.size != 64) return false;
    const Held at = address_in(instruction, to);
    return at.kind == Held::Kind::kHead && at.list == list;
  }

 private:
  /// What a register of 32 or 64 bits holds; unknown for anything else.
  Held value(const ZydisDecodedOperand& operand) const {
    const std::optional<std::size_t> number = wide_register_number(operand);
    return number ? narrowed(held_[*number], operand.size) : Held();
  }
  Held value(ZydisRegister wide) const {
    const auto found = std::find(kGeneralRegisters.begin(), kGeneralRegisters.end(), wide);
    return found == kGeneralRegisters.end() ? Held()
                                            : held_[static_cast<std::size_t>(found - kGeneralRegisters.begin())];
  }

  /// What is left of it in so many bits, with zeros above.
  Held narrowed(const Held& held, unsigned bits) const {
    if (bits == 64 || held.kind == Held::Kind::kSize || held.kind == Held::Kind::kClass) return held;
    const bool is_size = held.kind == Held::Kind::kAsBefore && held.number == size_register_;
    return is_size ? Held{.kind = Held::Kind::kSize} : Held();
  }

  Held result_of(const Instruction& instruction) const {
    const ZydisDecodedOperand &to = instruction.operands[0], &from = instruction.operands[1];
    switch (instruction.decoded.mnemonic) {
      case ZYDIS_MNEMONIC_MOV:
        if (is_memory(from)) return to.size == 64 ? loaded(instruction, from) : Held();
        return value(from);
      case ZYDIS_MNEMONIC_MOVZX:
        return is_memory(from) && from.size == 8 ? class_from(from) : Held();
      case ZYDIS_MNEMONIC_LEA:
        return to.size == 64 ? address_in(instruction, from) : rounded(from);
      case ZYDIS_MNEMONIC_ADD:
        return sum_of(to, from);
      case ZYDIS_MNEMONIC_SHR:
        return size_shifted(to, from);
      case ZYDIS_MNEMONIC_SHL:
        return immediate(from) ? class_shifted(value(to), *immediate(from)) : Held();
      default:
        return {};
    }
  }

  /// In 32 bits: `lea 7(%rdi), %eax`.
  Held rounded(const ZydisDecodedOperand& operand) const {
    if (operand.mem.index != ZYDIS_REGISTER_NONE) return {};
    return size_plus(narrowed(value(operand.mem.base), 32), static_cast<std::uint64_t>(operand.mem.disp.value));
  }

  static Held size_plus(Held size, std::uint64_t added) {
    if (size.kind != Held::Kind::kSize || size.list.size_shift != 0) return {};
    size.list.size_added += static_cast<std::uint32_t>(added);
    return size;
  }

  Held size_shifted(const ZydisDecodedOperand& to, const ZydisDecodedOperand& by) const {
    Held size = value(to);
    const auto bits = immediate(by);
    if (to.size != 32 || size.kind != Held::Kind::kSize || size.list.size_shift != 0 || !bits || *bits > kMostSizeShift)
      return {};
    size.list.size_shift = static_cast<std::uint8_t>(*bits);
    return size;
  }

  static Held class_shifted(Held number, std::uint64_t bits) {
    if (number.kind != Held::Kind::kClass || bits > kMostClassShift - number.list.list_shift) return {};
    number.list.list_shift = static_cast<std::uint8_t>(number.list.list_shift + bits);
    return number;
  }

  Held sum_of(const ZydisDecodedOperand& to, const ZydisDecodedOperand& from) const {
    const auto added = immediate(from);
    if (to.size == 32) return added ? size_plus(value(to), *added) : Held();
    if (to.size != 64) return {};
    const Held held = value(to);
    if (added) return held.kind == Held::Kind::kHead ? moved(held, static_cast<std::int64_t>(*added)) : Held();
    return head_of(held, value(from));
  }

  /// Of one list among several, with its class.
  static Held head_of(const Held& one, const Held& other) {
    if (one.kind == Held::Kind::kClass && other.kind == Held::Kind::kAsBefore) return head_of(other, one);
    if (one.kind != Held::Kind::kAsBefore || one.number == kRsp || other.kind != Held::Kind::kClass) return {};
    Held head = other;
    head.kind = Held::Kind::kHead;
    head.list.lists = one.number;
    return head;
  }

  /// The address of a memory operand: of a list's first block, or one of the file's.
  Held address_in(const Instruction& instruction, const ZydisDecodedOperand& operand) const {
    const auto& memory = operand.mem;
    if (memory.segment == ZYDIS_REGISTER_FS || memory.segment == ZYDIS_REGISTER_GS) return {};
    if (memory.base == ZYDIS_REGISTER_RIP)
      return {.kind = Held::Kind::kAddress,
              .address = instruction.next_vaddr() + static_cast<std::uint64_t>(memory.disp.value)};
    const Held base = value(memory.base);
    if (memory.index == ZYDIS_REGISTER_NONE)
      return base.kind == Held::Kind::kHead ? moved(base, memory.disp.value) : Held();
    Held index = value(memory.index);
    if (memory.scale != 1) index = class_shifted(index, static_cast<unsigned>(std::countr_zero(memory.scale)));
    const Held head = head_of(base, index);
    return head.kind == Held::Kind::kHead ? moved(head, memory.disp.value) : Held();
  }

  Held loaded(const Instruction& instruction, const ZydisDecodedOperand& from) const {
    Held block = address_in(instruction, from);
    if (block.kind != Held::Kind::kHead) return {};
    block.kind = Held::Kind::kBlock;
    return block;
  }

  Held class_from(const ZydisDecodedOperand& from) const {
    const auto& memory = from.mem;
    if (memory.segment == ZYDIS_REGISTER_FS || memory.segment == ZYDIS_REGISTER_GS || memory.scale > 1) return {};
    if (memory.base == ZYDIS_REGISTER_NONE || memory.index == ZYDIS_REGISTER_NONE) return {};
    Held table = value(memory.base), number = value(memory.index);
    if (table.kind == Held::Kind::kSize) std::swap(table, number);
    if (table.kind != Held::Kind::kAddress || number.kind != Held::Kind::kSize) return {};
    number.kind = Held::Kind::kClass;
    number.list.classes_vaddr = table.address + static_cast<std::uint64_t>(memory.disp.value);
    return number;
  }

  const std::uint32_t size_register_;
  std::array<Held, kGeneralRegisters.size()> held_;
};

/// Looks for what leads to one branch at which a block is known.
class Search {
 public:
  Search(const CodeGraph& graph, std::span<const YieldPoint> points, const std::function<bool(std::size_t)>& is_own)
      : graph_(graph), points_(points), is_own_(is_own) {}

  std::optional<FreeListTaken> run(const YieldPoint& known) {
    const std::optional<std::size_t> test = graph_.find(known.vaddr);
    if (!test || !tells_empty(*test, known)) return std::nullopt;
    FreeListTaken taken = {.ways = {}, .test = *test};
    first_.clear();
    passed_.assign(graph_.nodes.size(), false);
    passed_[*test] = true;
    for (const YieldPoint& point : points_) {
      if (const auto way = way_from(point, *test, known)) taken.ways.push_back(*way);
    }
    return taken.ways.empty() || !are_all() ? std::nullopt : std::optional(std::move(taken));
  }

 private:
  /// Whether the point counts where the register of its result is not zero, and nowhere else.
  bool tells_empty(std::size_t test, const YieldPoint& known) const {
    const CodeNode& node = graph_.nodes[test];
    const bool is_one = known.kind == PointKind::kYieldAfterSize && known.condition && !known.called_by &&
                        known.result.kind == Operand::Kind::kRegister;
    if (!is_one || !node.is_branch() || node.next.size() != 2 || !node.has_all_ways || !is_own_(test)) return false;
    const std::size_t full = way_of(test, *known.condition);
    const std::size_t empty = node.next[0] == full ? node.next[1] : node.next[0];
    return (zero_on_way(graph_, test, empty) >> known.result.index & 1) != 0;
  }

  /// Where a branch leads under the condition.
  std::size_t way_of(std::size_t branch, std::uint8_t condition) const {
    const std::vector<std::size_t>& next = graph_.nodes[branch].next;
    return seat_on_branch(graph_, branch, next[0]).condition == condition ? next[0] : next[1];
  }

  /// Whether there is nothing to know of the point but the size, on one way of a branch.
  bool tells_size(const YieldPoint& point, std::size_t branch) const {
    return point.kind == PointKind::kSize && point.condition && !point.inner &&
           point.size.kind == Operand::Kind::kRegister && point.size_factor.kind == Operand::Kind::kNowhere &&
           graph_.nodes[branch].next.size() == 2;
  }

  bool has_point(std::size_t node) const {
    return std::any_of(points_.begin(), points_.end(),
                       [&](const YieldPoint& point) { return point.vaddr == graph_.nodes[node].instruction.vaddr; });
  }

  std::optional<FreeListTaken::Way> way_from(const YieldPoint& point, std::size_t test, const YieldPoint& known) {
    const std::optional<std::size_t> branch = graph_.find(point.vaddr);
    if (!branch || !tells_size(point, *branch)) return std::nullopt;
    Registers registers(point.size.index);
    std::vector<std::size_t> nodes;
    const std::size_t first = way_of(*branch, *point.condition);
    for (std::size_t at = first; at != test; at = graph_.nodes[at].next.front()) {
      // A loop is left by no way.
      if (nodes.size() > graph_.nodes.size() || has_point(at) || !goes_on(at, *branch) ||
          !registers.run(graph_.nodes[at]))
        return std::nullopt;
      nodes.push_back(at);
    }
    const std::optional<FreeList> list = registers.block_in(known.result.index);
    if (!list || !is_near(test, *branch) || !takes_first(way_of(test, *known.condition), *branch, registers, *list))
      return std::nullopt;
    first_.emplace(*branch, first);
    for (const std::size_t node : nodes) passed_[node] = true;
    return FreeListTaken::Way{.branch = *branch, .list = *list};
  }

  bool is_near(std::size_t node, std::size_t branch) const {
    const std::uint64_t distance = graph_.nodes[node].instruction.vaddr - graph_.nodes[branch].instruction.vaddr;
    return distance + HAWK_LONGEST_WAY <= 2 * HAWK_LONGEST_WAY;
  }

  /// On the way from `branch`.
  bool goes_on(std::size_t node, std::size_t branch) const {
    const CodeNode& each = graph_.nodes[node];
    return each.next.size() == 1 && each.has_all_ways && !each.is_call() && is_own_(node) && is_near(node, branch);
  }

  /// Whether the first store from `at` on is to where the block was loaded from: nobody else may have the list then.
  bool takes_first(std::size_t at, std::size_t branch, Registers registers, const FreeList& list) const {
    for (std::size_t steps = 0; steps < graph_.nodes.size(); ++steps) {
      const CodeNode& node = graph_.nodes[at];
      if (registers.replaces_first(node.instruction, list)) return !has_prefix(node.instruction) && is_near(at, branch);
      if (!goes_on(at, branch) || !registers.run(node)) return false;
      at = node.next.front();
    }
    return false;
  }

  static bool has_prefix(const Instruction& instruction) {
    return (instruction.decoded.attributes &
            (ZYDIS_ATTRIB_HAS_LOCK | ZYDIS_ATTRIB_HAS_XACQUIRE | ZYDIS_ATTRIB_HAS_XRELEASE)) != 0;
  }

  /// Whether nothing else leads to what they come by.
  bool are_all() const {
    for (std::size_t node = 0; node < passed_.size(); ++node) {
      if (!passed_[node]) continue;
      for (const std::size_t previous : graph_.nodes[node].previous) {
        const bool is_passed = passed_[previous] && leads_on(previous, node);
        if (!is_passed && !first_.contains({previous, node})) return false;
      }
    }
    return true;
  }

  /// The test leads to no other instruction that is passed.
  bool leads_on(std::size_t from, std::size_t to) const { return graph_.nodes[from].next == std::vector{to}; }

  const CodeGraph& graph_;
  const std::span<const YieldPoint> points_;
  const std::function<bool(std::size_t)>& is_own_;
  std::set<std::pair<std::size_t, std::size_t>> first_;  ///< the branches of the ways found, and where they lead
  std::vector<bool> passed_;                             ///< by these
};

}  // namespace

std::vector<FreeListTaken> find_free_lists(const CodeGraph& graph, std::span<const YieldPoint> points,
                                           const std::function<bool(std::size_t)>& is_own) {
  std::vector<FreeListTaken> found;
  Search search(graph, points, is_own);
  for (const YieldPoint& point : points) {
    if (auto taken = search.run(point)) found.push_back(std::move(*taken));
  }
  return found;
}

}  // namespace hawk
