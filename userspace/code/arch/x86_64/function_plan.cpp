#include "userspace/code/arch/x86_64/function_plan.h"

#include <algorithm>
#include <utility>

#include "userspace/code/arch/x86_64/free_lists.h"
#include "userspace/code/arch/x86_64/yield_cost.h"

namespace hawk {
namespace {

/// What takes more has no short way from entry to return that most calls take, and to attach takes time for each.
constexpr std::size_t kMostPoints = 64;
/// Bytes of the shortest nop that the kernel replaces.
constexpr std::uint64_t kLeastReplacedNop = 5;

bool opens_call(const YieldPoint& point) {
  return point.kind == PointKind::kSize || point.kind == PointKind::kYieldAhead;
}

}  // namespace

FunctionPlan::FunctionPlan(BranchTargets& resolver, CallEffects& effects, const SeenFunctions& seen,
                           FunctionExtent function, const SeenFunction& asked, std::uint64_t entry_probe_vaddr,
                           const FunctionWalk& walk, const std::function<bool(const CodeTarget&)>& ends_path)
    : resolver_(resolver),
      effects_(effects),
      function_(function),
      asked_(asked),
      entry_probe_vaddr_(entry_probe_vaddr),
      graph_(graph_of(resolver, function.vaddr, walk,
                      [&](const CodeTarget& target, const StackState& state) {
                        return effects.ends_program(target, state.first_constant);
                      })),
      operands_(graph_, asked),
      certain_(follow_results(graph_, asked.kind == HAWK_CALL_POSIX_MEMALIGN)) {
  find_exits(seen, ends_path);
}

bool FunctionPlan::begins_again() const {
  return !graph_.nodes[graph_.entry].previous.empty() ||
         std::any_of(exits_.begin(), exits_.end(),
                     [this](const Exit& exit) { return exit.target.vaddr == function_.vaddr; });
}

YieldPlan FunctionPlan::run() {
  const bool at_entry = must_open_at_entry(asked_.kind);
  const bool skips = !at_entry && returns_block(asked_.kind);
  YieldPlan plan = make(at_entry, skips ? Failures::kUnseen : Failures::kAtBranches);
  const bool is_opened = plan.opens_at_entry || std::any_of(plan.points.begin(), plan.points.end(),
                                                            [](auto& point) { return opens_call(point); });
  // What is opened has to be closed on every path.
  if (plan.fallback.empty() && is_opened && !at_entry) plan = make(false, Failures::kAtBranches);
  if (plan.fallback.empty() || at_entry) return plan;
  YieldPlan other = make(false, Failures::kAtReturns);
  return other.fallback.empty() ? other : plan;
}

YieldPlan FunctionPlan::run_opened() {
  YieldPlan plan = make(true, Failures::kAtBranches);
  if (!plan.fallback.empty()) plan = make(true, Failures::kAtReturns);
  for (const Exit& exit : exits_) {
    const auto offset = exit.seen ? resolver_.image().file_offset_of(*exit.target.vaddr) : std::nullopt;
    if (!offset) return no_plan("it goes on in a function that cannot be followed");
    plan.relies_on.push_back(*offset);
  }
  return plan;
}

void FunctionPlan::add_code_of(const YieldPlan& inner, YieldPlan& plan) {
  plan.code.insert(plan.code.end(), inner.code.begin(), inner.code.end());
  std::sort(plan.code.begin(), plan.code.end(),
            [](const CodePiece& a, const CodePiece& b) { return a.file_offset < b.file_offset; });
}

bool FunctionPlan::is_own(std::size_t node) const {
  const std::uint64_t vaddr = graph_.nodes[node].instruction.vaddr;
  return vaddr >= function_.vaddr && vaddr - function_.vaddr < function_.size_bytes;
}

void FunctionPlan::find_exits(const SeenFunctions& seen, const std::function<bool(const CodeTarget&)>& ends_path) {
  for (std::size_t node = 0; node < graph_.nodes.size(); ++node) {
    const Instruction& instruction = graph_.nodes[node].instruction;
    const bool is_jump = instruction.flow == Flow::kJump || instruction.flow == Flow::kBranch ||
                         (instruction.flow == Flow::kIndirectJump && instruction.got_slot);
    if (!is_jump || graph_.nodes[node].is_returning_jump()) continue;
    const CodeTarget target = target_of(resolver_, instruction);
    if (!ends_path(target)) continue;
    exits_.push_back({node, target, target.vaddr ? seen(*target.vaddr) : std::nullopt});
  }
}

/// Whether the function goes there with a block to resize: not only where it has found that there is none.
bool FunctionPlan::has_block(const Exit& exit) const {
  const auto may_have_one = [&](std::size_t from, std::size_t next) {
    return (operands_.values()[from][kBlock].registers & zero_on_way(graph_, from, next)) == 0;
  };
  return reached_over(graph_, graph_.entry, may_have_one)[exit.node];
}

/// Nodes that lead to one of `to`, those included.
std::vector<bool> FunctionPlan::leading_to(std::vector<std::size_t> pending) const {
  std::vector<bool> reached(graph_.nodes.size());
  for (const std::size_t node : pending) reached[node] = true;
  while (!pending.empty()) {
    const std::size_t at = pending.back();
    pending.pop_back();
    for (const std::size_t other : graph_.nodes[at].previous) {
      if (reached[other]) continue;
      reached[other] = true;
      pending.push_back(other);
    }
  }
  return reached;
}

YieldPlan FunctionPlan::make(bool opens_at_entry, Failures failures) {
  YieldPlan plan = choose_points(opens_at_entry, failures);
  if (!plan.fallback.empty()) return plan;
  return finished(opens_at_entry ? std::move(plan) : look_ahead(std::move(plan)));
}

YieldPlan FunctionPlan::choose_points(bool opens_at_entry, Failures failures) {
  const ReturnSeats returns(graph_, certain_, failures);
  if (const auto reason = why_incomplete(returns)) return no_plan(*reason);
  std::set<std::size_t> taken;
  std::vector<std::size_t> finals;
  for (const auto& [seat, result] : returns.seats()) {
    if (!taken.insert(seat.node).second) return no_plan("both ways of a branch lead to returns of different results");
    if (!is_failure(result)) finals.push_back(seat.node);
  }
  for (const Exit& exit : exits_) {
    if (const auto reason = why_no_exit(exit)) return no_plan(*reason);
    finals.push_back(exit.node);
  }
  std::vector<std::size_t> wanted = allocating_calls(finals);
  for (const auto& [seat, result] : returns.seats()) {
    if (!is_failure(result) && (!operands_.size_at(seat.node) || !is_own(seat.node))) wanted.push_back(seat.node);
  }
  const SizeSeats sizes = seat_sizes(wanted, taken, opens_at_entry);
  YieldPlan plan;
  plan.opens_at_entry = opens_at_entry || sizes.is_at_entry();
  add_sizes(sizes, plan);
  if (!add_returns(returns, sizes, plan)) return no_plan("the caller's frame is not known where it returns");
  if (const auto reason = add_exits(sizes, taken, plan)) return no_plan(*reason);
  return plan;
}

std::vector<std::size_t> FunctionPlan::allocating_calls(const std::vector<std::size_t>& finals) {
  const std::vector<bool> leads = leading_to(finals);
  std::vector<std::size_t> calls;
  for (std::size_t node = 0; node < graph_.nodes.size(); ++node) {
    if (leads[node] && graph_.nodes[node].is_call() &&
        effects_.may_allocate(target_of(resolver_, graph_.nodes[node].instruction))) {
      calls.push_back(node);
    }
  }
  return calls;
}

SizeSeats FunctionPlan::seat_sizes(std::vector<std::size_t> wanted, const std::set<std::size_t>& taken,
                                   bool opens_at_entry) {
  usable_.assign(graph_.nodes.size(), false);
  YieldPoint unused;
  for (std::size_t node = 0; node < graph_.nodes.size(); ++node) {
    usable_[node] = is_own(node) && operands_.size_at(node) && operands_.set_frame(node, unused);
  }
  for (const Exit& exit : exits_) usable_[exit.node] = false;
  if (opens_at_entry) wanted = {graph_.entry};
  return {graph_, wanted, usable_, taken};
}

void FunctionPlan::add_sizes(const SizeSeats& sizes, YieldPlan& plan) const {
  for (const Seat& seat : sizes.seats()) {
    YieldPoint point = point_on(seat, PointKind::kSize);
    const CallOperands::Size operands = *operands_.size_at(seat.node);
    point.size = operands.size;
    point.size_factor = operands.factor;
    operands_.set_frame(seat.node, point);
    plan.points.push_back(point);
  }
}

YieldPoint FunctionPlan::point_on(const Seat& seat, PointKind kind) const {
  const CodeNode& node = graph_.nodes[seat.node];
  YieldPoint point;
  point.vaddr = node.instruction.vaddr;
  point.kind = kind;
  point.condition = seat.condition;
  point.single_stepped = !node.is_emulated;
  return point;
}

YieldPlan FunctionPlan::look_ahead(YieldPlan plan) const {
  const auto point_at = [&](std::uint64_t vaddr) {
    return std::find_if(plan.points.begin(), plan.points.end(), [&](auto& point) { return point.vaddr == vaddr; });
  };
  for (const FreeListTaken& taken :
       find_free_lists(graph_, plan.points, [this](std::size_t node) { return is_own(node); })) {
    for (const FreeListTaken::Way& way : taken.ways) {
      YieldPoint& point = *point_at(graph_.nodes[way.branch].instruction.vaddr);
      point.kind = PointKind::kYieldAhead;
      point.ahead = way.list;
    }
    plan.points.erase(point_at(graph_.nodes[taken.test].instruction.vaddr));
  }
  return plan;
}

bool FunctionPlan::is_failure(const ResultHolders& result) const {
  return returns_block(asked_.kind) && result.constant == std::uint32_t{0};
}

bool FunctionPlan::add_returns(const ReturnSeats& returns, const SizeSeats& sizes, YieldPlan& plan) const {
  for (const auto& [seat, result] : returns.seats()) {
    if (is_failure(result) && !sizes.known()[seat.node]) continue;
    const auto size = operands_.size_at(seat.node);
    const bool knows_all = size && is_own(seat.node) && !plan.opens_at_entry && !is_failure(result);
    YieldPoint point = point_on(seat, knows_all ? PointKind::kYield : PointKind::kYieldAfterSize);
    if (knows_all) {
      point.size = size->size;
      point.size_factor = size->factor;
    }
    const auto operand = operand_of(result.holders, graph_.nodes[seat.node].before);
    if (result.constant) {
      point.result = {Operand::Kind::kConstant, *result.constant};
    } else if (operand) {
      point.result = *operand;
    } else {
      return false;
    }
    if (!operands_.set_frame(seat.node, point)) return false;
    plan.points.push_back(point);
  }
  return true;
}

/// Whether what the program asked for is what the function that goes on is called with.
bool FunctionPlan::is_passed_on(const Exit& exit) const {
  const Values& values = operands_.values()[exit.node];
  const auto holds = [&](const Holders& holders, std::optional<std::uint8_t> number) {
    return number && (holders.registers >> *number & 1) != 0;
  };
  const auto there = passed_in(*exit.seen);
  const bool here_is_product = meaning_of(asked_.kind).factor.has_value();
  if (!there[kSize]) return false;
  const bool takes_block = there[kBlock].has_value();
  if (takes_block != meaning_of(asked_.kind).block.has_value() && takes_block) return false;
  if (takes_block && !holds(values[kBlock], there[kBlock])) return false;
  if (there[kFactor]) {
    return here_is_product && holds(values[kSize], there[kSize]) && holds(values[kFactor], there[kFactor]);
  }
  return holds(here_is_product ? values[kProduct] : values[kSize], there[kSize]);
}

std::optional<std::string> FunctionPlan::why_no_exit(const Exit& exit) const {
  const CodeNode& node = graph_.nodes[exit.node];
  if (node.before.rsp != 0 || node.before.rbp_changed) return "it goes on in another function with a frame of its own";
  if (exit.seen) {
    // TCMalloc's pvalloc goes on in memalign, which is asked for whole pages.
    const bool never_goes_there = asked_.rounds_to_pages && exit.seen->is_malloc;
    if (!is_passed_on(exit) && !never_goes_there)
      return "it goes on in another allocating function, which is asked for something else";
    return std::nullopt;
  }
  if (!operands_.size_at(exit.node))
    return "it goes on in a function that cannot be followed, and what it was asked for is not known there";
  if (!node.is_emulated) return "it goes on in a function that cannot be followed, by a jump through memory";
  return std::nullopt;
}

std::optional<std::string> FunctionPlan::add_exits(const SizeSeats& sizes, const std::set<std::size_t>& taken,
                                                   YieldPlan& plan) const {
  for (const Exit& exit : exits_) {
    const bool is_known = sizes.known()[exit.node];
    if (exit.seen && !is_known) continue;
    const CodeNode& node = graph_.nodes[exit.node];
    if (is_known && !exit.seen)
      return "it goes on in a function that cannot be followed, after a call that may allocate";
    if (taken.contains(exit.node) || !node.is_emulated)
      return "it goes on in another function by a branch with two meanings";
    const Seat seat = node.is_branch() ? seat_if_taken(graph_, exit.node) : Seat{exit.node, std::nullopt};
    YieldPoint point = point_on(seat, exit.seen ? PointKind::kForward : PointKind::kReturnProbe);
    if (!exit.seen) {
      const CallOperands::Size operands = *operands_.size_at(exit.node);
      point.size = operands.size;
      point.size_factor = operands.factor;
    } else if (meaning_of(asked_.kind).block && !meaning_of(exit.seen->kind).block && has_block(exit)) {
      const auto offset = resolver_.image().file_offset_of(*exit.target.vaddr);
      if (!offset) return "it goes on in a function that is not in the file";
      plan.leaves_block_to.push_back(*offset);
    }
    operands_.set_frame(exit.node, point);
    plan.points.push_back(point);
  }
  return std::nullopt;
}

/// All returns must have been dealt with, and none at a price that every call pays.
std::optional<std::string> FunctionPlan::why_incomplete(const ReturnSeats& returns) const {
  const std::vector<bool> is_fast =
      reached_from(graph_, graph_.entry, [&](std::size_t at) { return graph_.nodes[at].is_call(); });
  for (std::size_t node = 0; node < graph_.nodes.size(); ++node) {
    if (!graph_.nodes[node].is_return()) continue;
    if (!certain_[node]) {
      // Behind a call that never returns rsp is elsewhere.
      if (graph_.nodes[node].before.rsp.value_or(0) == 0) return "a return of another frame than its own";
      continue;
    }
    const bool is_seat = returns.seats().contains(Seat{node, std::nullopt});
    if (is_seat && is_fast[node]) return "no instruction before its return is one that the kernel emulates";
  }
  return std::nullopt;
}

YieldPlan FunctionPlan::finished(YieldPlan plan) const {
  std::stable_sort(plan.points.begin(), plan.points.end(),
                   [](const YieldPoint& a, const YieldPoint& b) { return a.vaddr < b.vaddr; });
  const auto same = [](const YieldPoint& a, const YieldPoint& b) {
    return a.vaddr == b.vaddr && !(a.called_by && b.called_by);
  };
  if (std::adjacent_find(plan.points.begin(), plan.points.end(), same) != plan.points.end()) {
    return no_plan("one instruction would have two meanings");
  }
  const auto is_return_probe = [](const YieldPoint& point) { return point.kind == PointKind::kReturnProbe; };
  if (std::all_of(plan.points.begin(), plan.points.end(), is_return_probe))
    return no_plan("no path through it returns a block of its own");
  if (plan.points.size() > kMostPoints) return no_plan("it would take too many points");
  if (fewest_traps(graph_, plan) > asked_.most_traps) return no_plan("every call would run into several points");
  for (YieldPoint& point : plan.points) {
    const auto offset = resolver_.image().file_offset_of(point.vaddr);
    if (!offset) return no_plan("its code is not in the file");
    point.file_offset = *offset;
    const bool is_early = point.vaddr >= function_.vaddr && point.vaddr <= entry_probe_vaddr_;
    if (plan.opens_at_entry && is_early) return no_plan("it may return before its entry is seen");
  }
  plan.goes_on = !exits_.empty();
  return add_code(plan) ? plan : no_plan("its code is not in the file");
}

/// Instructions behind one another are one piece.
bool FunctionPlan::add_code(YieldPlan& plan) const {
  std::uint64_t end_vaddr = 0;
  for (const CodeNode& node : graph_.nodes) {
    const std::uint64_t vaddr = node.instruction.vaddr, next = node.instruction.next_vaddr();
    const bool is_nop = node.instruction.decoded.mnemonic == ZYDIS_MNEMONIC_NOP;
    if (is_nop && next - vaddr >= kLeastReplacedNop) continue;
    if (vaddr != end_vaddr || vaddr == function_.vaddr || plan.code.empty()) {
      const auto offset = resolver_.image().file_offset_of(vaddr);
      if (!offset) return false;
      plan.code.push_back({.file_offset = *offset, .bytes = 0});
    }
    plan.code.back().bytes += next - vaddr;
    end_vaddr = next;
  }
  return true;
}

}  // namespace hawk
