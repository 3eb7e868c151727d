#include "userspace/code/arch/x86_64/argument_areas.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

namespace hawk {
namespace {

constexpr std::int64_t kWordBytes = 8;
/// Others are taken for words that are not read.
constexpr std::size_t kMostWords = 64;
using WordSet = std::uint64_t;

/// Bytes of the stack.
struct Extent {
  std::int64_t start = 0;
  std::int64_t bytes = 0;
};

/// What an instruction does with the stack at positions that are known.
struct Uses {
  std::vector<Extent> read;
  std::vector<Extent> written;
};

void add_implicit(const CodeNode& node, Uses& uses) {
  const StackState& before = node.before;
  if (!before.rsp) return;
  switch (node.instruction.decoded.mnemonic) {
    case ZYDIS_MNEMONIC_PUSH:
      uses.written.push_back({*before.rsp - kWordBytes, kWordBytes});
      return;
    case ZYDIS_MNEMONIC_POP:
    case ZYDIS_MNEMONIC_RET:
      uses.read.push_back({*before.rsp, kWordBytes});
      return;
    case ZYDIS_MNEMONIC_LEAVE:
      if (before.rbp) uses.read.push_back({*before.rbp, kWordBytes});
      return;
    default:
      return;
  }
}

Uses uses_of(const CodeNode& node) {
  Uses uses;
  add_implicit(node, uses);
  const Instruction& instruction = node.instruction;
  if (instruction.decoded.mnemonic == ZYDIS_MNEMONIC_LEA) return uses;
  for (const ZydisDecodedOperand& operand :
       instruction.all_operands().first(instruction.decoded.operand_count_visible)) {
    const std::optional<std::int64_t> start = stack_position(operand, node.before);
    if (!start) continue;
    const Extent extent = {*start, operand.size / 8};
    if ((operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0) uses.read.push_back(extent);
    // Of one that is written on some condition only what was there may be read.
    if ((operand.actions & ZYDIS_OPERAND_ACTION_WRITE) != 0) uses.written.push_back(extent);
  }
  return uses;
}

/// The words that a function reads, by number.
class Words {
 public:
  void add(const Extent& extent) {
    for (std::int64_t word = extent.start & -kWordBytes; word < extent.start + extent.bytes; word += kWordBytes) {
      const auto at = std::lower_bound(positions_.begin(), positions_.end(), word);
      if (at == positions_.end() || *at != word) positions_.insert(at, word);
    }
  }
  void settle() {
    // The lowest are the ones that could be arguments.
    if (positions_.size() > kMostWords) positions_.resize(kMostWords);
  }
  /// Those that lie in the extent: all of each, or some of it.
  WordSet in(const Extent& extent, bool wholly) const {
    WordSet found = 0;
    for (std::size_t i = 0; i < positions_.size(); ++i) {
      const std::int64_t start = positions_[i], end = start + kWordBytes;
      const bool is_in = wholly ? extent.start <= start && end <= extent.start + extent.bytes
                                : extent.start < end && start < extent.start + extent.bytes;
      if (is_in) found |= WordSet{1} << i;
    }
    return found;
  }
  /// The lowest of them at or above `rsp`.
  std::int64_t lowest(WordSet words, std::int64_t rsp) const {
    for (; words != 0; words &= words - 1) {
      const std::int64_t position = positions_[static_cast<std::size_t>(std::countr_zero(words))];
      if (position >= rsp) return position;
    }
    return std::numeric_limits<std::int64_t>::max();
  }

 private:
  std::vector<std::int64_t> positions_;  ///< sorted
};

/// Before each node, which words are read from there on before they are written.
std::vector<WordSet> words_read_later(const CodeGraph& graph, const Words& words, const std::vector<Uses>& uses) {
  std::vector<WordSet> before(graph.nodes.size());
  std::vector<std::pair<WordSet, WordSet>> effects;  // read, written
  effects.reserve(graph.nodes.size());
  for (const Uses& of_node : uses) {
    auto& [read, written] = effects.emplace_back();
    for (const Extent& extent : of_node.read) read |= words.in(extent, false);
    for (const Extent& extent : of_node.written) written |= words.in(extent, true);
  }
  std::vector<std::size_t> pending;
  for (std::size_t node = 0; node < graph.nodes.size(); ++node) pending.push_back(node);
  while (!pending.empty()) {
    const std::size_t at = pending.back();
    pending.pop_back();
    WordSet later = 0;
    for (const std::size_t next : graph.nodes[at].next) later |= before[next];
    const WordSet now = effects[at].first | (later & ~effects[at].second);
    if (now == before[at]) continue;
    before[at] = now;
    for (const std::size_t previous : graph.nodes[at].previous) pending.push_back(previous);
  }
  return before;
}

}  // namespace

ArgumentAreas::ArgumentAreas(const CodeGraph& graph)
    : ends_(graph.nodes.size(), std::numeric_limits<std::int64_t>::min()) {
  std::vector<Uses> uses;
  uses.reserve(graph.nodes.size());
  Words words;
  for (const CodeNode& node : graph.nodes) {
    for (const Extent& extent : uses.emplace_back(uses_of(node)).read) words.add(extent);
  }
  words.settle();
  const std::vector<WordSet> before = words_read_later(graph, words, uses);
  for (std::size_t at = 0; at < graph.nodes.size(); ++at) {
    const CodeNode& node = graph.nodes[at];
    if (!node.is_call()) continue;
    WordSet later = 0;
    for (const std::size_t next : node.next) later |= before[next];
    ends_[at] = node.before.rsp ? words.lowest(later, *node.before.rsp) : std::numeric_limits<std::int64_t>::max();
  }
}

}  // namespace hawk
