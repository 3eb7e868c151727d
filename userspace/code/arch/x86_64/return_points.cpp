#include "userspace/code/return_points.h"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "userspace/code/arch/x86_64/code_graph.h"
#include "userspace/code/arch/x86_64/instruction.h"

namespace hawk {
namespace {

constexpr std::uint32_t kRax = 1u << 0;
constexpr std::uint32_t kRsp = 1u << 4;
/// What a probe's cookie has room for, less one: see HAWK_COOKIE_SAVED_RBP_SHIFT.
constexpr std::uint32_t kMaxWords = 0xfffe;
/// Stands before every abort handler of a restartable sequence; glibc and tcmalloc register sequences with no other
/// (RSEQ_SIG in glibc's sysdeps/unix/sysv/linux/x86/bits/rseq.h).
constexpr std::array<std::uint8_t, 4> kRseqSignature = {0x53, 0x30, 0x05, 0x53};

/// The registers before `instruction` whose content is what any of `after` has after it. Bits by register number.
std::uint32_t sources(const Instruction& instruction, std::uint32_t after) {
  std::uint32_t before = after;
  for (std::size_t number = 0; number < kGeneralRegisters.size(); ++number) {
    if (instruction.writes(kGeneralRegisters[number])) before &= ~(1u << number);
  }
  if (instruction.decoded.mnemonic != ZYDIS_MNEMONIC_MOV) return before;
  for (std::size_t to = 0; to < kGeneralRegisters.size(); ++to) {
    if ((after >> to & 1) == 0 || !instruction.is_register(0, kGeneralRegisters[to])) continue;
    for (std::size_t from = 0; from < kGeneralRegisters.size(); ++from) {
      if (instruction.is_register(1, kGeneralRegisters[from])) before |= 1u << from;
    }
  }
  return before & ~kRsp;
}

/// A step into the certain part.
struct Crossing {
  std::uint64_t from;
  std::uint64_t to;
};

/// A connected piece of the certain part, and how it is entered.
struct Piece {
  std::vector<std::uint64_t> rets;
  std::vector<Crossing> crossings;
  bool has_entry = false;
};

/// The certain part of a function are the instructions from which all paths lead to a `ret` that returns what some
/// register holds. There is no way out of it but that `ret`, and so a path crosses into it once.
class ReturnSearch {
 public:
  ReturnSearch(BranchTargets& resolver, FunctionExtent function, const FunctionWalk& walk,
               std::uint64_t entry_probe_vaddr)
      : image_(resolver.image()), function_(function), walk_(walk), entry_probe_vaddr_(entry_probe_vaddr) {
    for (const auto& [vaddr, step] : walk.steps) {
      for (const std::uint64_t successor : step.successors) predecessors_[successor].push_back(vaddr);
    }
  }

  ReturnProbes run() {
    find_certain_part();
    ReturnProbes probes;
    for (const Piece& piece : pieces()) {
      const std::optional<std::vector<ReturnPoint>> points = points_of(piece);
      if (!points) continue;
      probes.points.insert(probes.points.end(), points->begin(), points->end());
      probes.hidden.insert(probes.hidden.end(), piece.rets.begin(), piece.rets.end());
    }
    std::sort(probes.points.begin(), probes.points.end(),
              [](const ReturnPoint& a, const ReturnPoint& b) { return a.vaddr < b.vaddr; });
    std::sort(probes.hidden.begin(), probes.hidden.end());
    std::set_difference(walk_.returns.begin(), walk_.returns.end(), probes.hidden.begin(), probes.hidden.end(),
                        std::back_inserter(probes.rets));
    return probes;
  }

 private:
  bool in_extent(std::uint64_t vaddr) const {
    return vaddr >= function_.vaddr && vaddr - function_.vaddr < function_.size_bytes;
  }

  /// The registers that hold at `vaddr` what is going to be returned, given that all successors are certain.
  std::uint32_t holders(std::uint64_t vaddr, const WalkStep& step) const {
    const std::optional<Instruction> instruction = decode_at(image_, vaddr);
    if (!instruction || !in_extent(vaddr) || !step.before.rsp) return 0;
    if (instruction->flow == Flow::kReturn) {
      const bool is_plain = instruction->decoded.operand_count_visible == 0;
      return is_plain && *step.before.rsp == 0 && !step.before.rbp_changed ? kRax : 0;
    }
    if (!is_harmless(*instruction) || !has_all_ways(*instruction, step)) return 0;
    std::uint32_t after = ~0u;
    for (const std::uint64_t successor : step.successors) after &= certain_.at(successor);
    return sources(*instruction, after);
  }

  /// From the returns backwards: an instruction is looked at when all that may follow it are known to be certain, which
  /// never comes about in a loop.
  void find_certain_part() {
    std::vector<std::uint64_t> ready = walk_.returns;
    while (!ready.empty()) {
      const std::uint64_t vaddr = ready.back();
      ready.pop_back();
      const std::uint32_t found = holders(vaddr, walk_.steps.at(vaddr));
      if (found == 0) continue;
      certain_.emplace(vaddr, found);
      for (const std::uint64_t predecessor : predecessors_[vaddr]) {
        const std::vector<std::uint64_t>& next = walk_.steps.at(predecessor).successors;
        const auto is_certain = [this](std::uint64_t successor) { return certain_.contains(successor); };
        if (std::all_of(next.begin(), next.end(), is_certain)) ready.push_back(predecessor);
      }
    }
  }

  std::vector<Piece> pieces() {
    std::vector<Piece> pieces;
    std::set<std::uint64_t> seen;
    for (const auto& [start, registers] : certain_) {
      if (!seen.insert(start).second) continue;
      Piece piece;
      std::vector<std::uint64_t> pending = {start};
      while (!pending.empty()) {
        const std::uint64_t vaddr = pending.back();
        pending.pop_back();
        collect(vaddr, piece, seen, pending);
      }
      pieces.push_back(std::move(piece));
    }
    return pieces;
  }

  void collect(std::uint64_t vaddr, Piece& piece, std::set<std::uint64_t>& seen, std::vector<std::uint64_t>& pending) {
    const std::vector<std::uint64_t>& next = walk_.steps.at(vaddr).successors;
    if (next.empty()) piece.rets.push_back(vaddr);
    if (vaddr == function_.vaddr) piece.has_entry = true;
    for (const std::uint64_t successor : next) {
      if (seen.insert(successor).second) pending.push_back(successor);
    }
    for (const std::uint64_t predecessor : predecessors_[vaddr]) {
      if (!certain_.contains(predecessor)) {
        piece.crossings.push_back({predecessor, vaddr});
      } else if (seen.insert(predecessor).second) {
        pending.push_back(predecessor);
      }
    }
  }

  /// One point for each way into the piece; nullopt unless there is one for all.
  std::optional<std::vector<ReturnPoint>> points_of(const Piece& piece) {
    if (piece.has_entry || piece.crossings.empty()) return std::nullopt;
    std::vector<ReturnPoint> points;
    for (const Crossing& crossing : piece.crossings) {
      std::optional<ReturnPoint> point = point_after(crossing);
      if (!point) point = point_on(crossing);
      if (!point) return std::nullopt;
      if (point->vaddr >= function_.vaddr && point->vaddr <= entry_probe_vaddr_) return std::nullopt;
      points.push_back(*point);
    }
    return points;
  }

  /// A point that is reached only through this edge.
  std::optional<ReturnPoint> point_after(const Crossing& crossing) {
    std::uint64_t vaddr = crossing.to;
    while (predecessors_[vaddr].size() == 1) {
      const std::optional<Instruction> instruction = decode_at(image_, vaddr);
      const WalkStep& step = walk_.steps.at(vaddr);
      if (!instruction || step.successors.empty()) break;
      if (instruction->is_emulated_by_kernel()) return make_point(vaddr, step.before, certain_.at(vaddr));
      if (step.successors.size() != 1) break;
      vaddr = step.successors.front();
    }
    return std::nullopt;
  }

  /// Whether an instruction may run repeatedly without a call in between: a probe there could cost more than it
  /// saves.
  bool is_in_tight_loop(std::uint64_t vaddr) const {
    std::set<std::uint64_t> seen;
    std::vector<std::uint64_t> pending = {vaddr};
    while (!pending.empty()) {
      const std::uint64_t at = pending.back();
      pending.pop_back();
      const std::optional<Instruction> instruction = decode_at(image_, at);
      if (!instruction || instruction->flow == Flow::kCall || instruction->flow == Flow::kIndirectCall) continue;
      for (const std::uint64_t successor : walk_.steps.at(at).successors) {
        if (successor == vaddr) return true;
        if (seen.insert(successor).second) pending.push_back(successor);
      }
    }
    return false;
  }

  /// The branch that crosses.
  std::optional<ReturnPoint> point_on(const Crossing& crossing) {
    const std::optional<Instruction> branch = decode_at(image_, crossing.from);
    if (!branch || branch->flow != Flow::kBranch || !branch->is_emulated_by_kernel() || !in_extent(crossing.from)) {
      return std::nullopt;
    }
    const bool if_taken = *branch->target == crossing.to;
    if (if_taken == (branch->next_vaddr() == crossing.to) || is_in_tight_loop(crossing.from)) return std::nullopt;
    std::optional<ReturnPoint> point =
        make_point(crossing.from, walk_.steps.at(crossing.from).before, certain_.at(crossing.to));
    const std::uint8_t condition = branch->decoded.opcode & 15;
    // Opposite conditions differ in the lowest bit.
    if (point) point->condition = if_taken ? condition : condition ^ 1;
    return point;
  }

  static std::optional<ReturnPoint> make_point(std::uint64_t vaddr, const StackState& stack, std::uint32_t holders) {
    const std::optional<CallerFrame> frame = caller_frame(stack, kMaxWords);
    if (!frame) return std::nullopt;
    ReturnPoint point;
    point.vaddr = vaddr;
    point.result_register = static_cast<std::uint8_t>(std::countr_zero(holders));
    point.slot_words = frame->slot_words;
    point.saved_rbp_words = frame->saved_rbp_words;
    return point;
  }

  const ElfImage& image_;
  const FunctionExtent function_;
  const FunctionWalk& walk_;
  const std::uint64_t entry_probe_vaddr_;
  std::map<std::uint64_t, std::vector<std::uint64_t>> predecessors_;
  std::map<std::uint64_t, std::uint32_t> certain_;  ///< and the registers that hold the result, bits by number
};

/// A branch whose two ways lead into different pieces would need two cookies.
bool has_twins(const std::vector<ReturnPoint>& points) {
  const auto same = [](const ReturnPoint& a, const ReturnPoint& b) { return a.vaddr == b.vaddr; };
  return std::adjacent_find(points.begin(), points.end(), same) != points.end();
}

}  // namespace

void ReturnProbes::give_up_points() {
  rets.insert(rets.end(), hidden.begin(), hidden.end());
  std::sort(rets.begin(), rets.end());
  points.clear();
  hidden.clear();
}

namespace {

bool may_contain(const ElfSegments::CodeSearch& search) { return search.vaddr || !search.is_whole; }

}  // namespace

ReturnProbes place_returns(BranchTargets& resolver, FunctionExtent function, const FunctionWalk& walk,
                           std::uint64_t entry_probe_vaddr) {
  ReturnProbes probes = ReturnSearch(resolver, function, walk, entry_probe_vaddr).run();
  if (probes.points.empty()) return probes;
  const ElfImage& image = resolver.image();
  if (has_twins(probes.points) || !image.handles_no_exceptions(function.vaddr) ||
      may_contain(image.search_code(kRseqSignature))) {
    probes.give_up_points();
  }
  return probes;
}

}  // namespace hawk
