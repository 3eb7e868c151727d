#include "userspace/code/arch/x86_64/yield_seats.h"

#include <algorithm>

namespace hawk {
namespace {

/// jmp and nop: at them all is as it will be behind them.
bool changes_nothing(const CodeNode& node) {
  return node.instruction.flow == Flow::kJump || node.instruction.decoded.mnemonic == ZYDIS_MNEMONIC_NOP;
}

}  // namespace

bool is_real_branch(const CodeNode& node) {
  return node.is_branch() && node.is_emulated && *node.instruction.target != node.instruction.next_vaddr();
}

Seat seat_if_taken(const CodeGraph& graph, std::size_t branch) {
  return {.node = branch, .condition = graph.nodes[branch].instruction.decoded.opcode & 15};
}

Seat seat_on_branch(const CodeGraph& graph, std::size_t branch, std::size_t next) {
  Seat seat = seat_if_taken(graph, branch);
  // Opposite conditions differ in the lowest bit.
  if (graph.nodes[next].instruction.vaddr == graph.nodes[branch].instruction.next_vaddr()) *seat.condition ^= 1;
  return seat;
}

ReturnSeats::ReturnSeats(const CodeGraph& graph, const std::vector<std::optional<ResultHolders>>& certain,
                         Failures failures)
    : graph_(graph),
      certain_(certain),
      failures_(failures),
      inside_(graph.nodes.size()),
      has_seat_(graph.nodes.size()) {
  for (std::size_t i = 0; i < certain.size(); ++i) inside_[i] = certain[i].has_value();
  if (inside_[graph.entry]) remove(graph.entry);
  // Removing a node changes the ways into others, not into those before it.
  for (bool settled = false; !settled;) {
    const auto before = std::pair(inside_, has_seat_);
    seats_.clear();
    for (std::size_t node = 0; node < inside_.size(); ++node) {
      if (inside_[node]) settle(node);
    }
    settled = before == std::pair(inside_, has_seat_);
  }
}

bool ReturnSeats::is_failure(std::size_t node) const { return certain_[node]->constant == std::uint32_t{0}; }

bool ReturnSeats::is_skipped(std::size_t node) const { return failures_ == Failures::kUnseen && is_failure(node); }

/// With it goes what leads to it, so that all ways out of the rest stay inside.
void ReturnSeats::remove(std::size_t node) {
  std::vector<std::size_t> pending = {node};
  inside_[node] = false;
  while (!pending.empty()) {
    const std::size_t at = pending.back();
    pending.pop_back();
    for (const std::size_t previous : graph_.nodes[at].previous) {
      if (!inside_[previous]) continue;
      inside_[previous] = false;
      pending.push_back(previous);
    }
  }
}

/// Where no way in has a seat of its own, all of them can have one together, on the node itself.
void ReturnSeats::settle(std::size_t node) {
  if (is_skipped(node)) return;
  const bool is_return = graph_.nodes[node].is_return();
  std::map<Seat, ResultHolders> found;
  for (const std::size_t previous : graph_.nodes[node].previous) {
    if (inside_[previous] || has_seat_[node]) continue;
    const auto seat = seat_before(previous, node);
    if (!seat) has_seat_[node] = is_return || graph_.nodes[node].is_emulated;
    if (!seat && !has_seat_[node]) return remove(node);
    if (seat) found.insert(*seat);
  }
  if (!has_seat_[node]) return seats_.merge(found);
  if (!is_entered_from_outside_only(node)) {
    if (!is_return) return remove(node);
    for (const std::size_t previous : graph_.nodes[node].previous) {
      if (inside_[previous]) remove(previous);
    }
  }
  seats_.emplace(Seat{.node = node, .condition = std::nullopt}, *certain_[node]);
}

bool ReturnSeats::is_entered_from_outside_only(std::size_t node) const {
  const std::vector<std::size_t>& previous = graph_.nodes[node].previous;
  return std::none_of(previous.begin(), previous.end(), [&](std::size_t other) { return inside_[other]; });
}

std::optional<std::pair<Seat, ResultHolders>> ReturnSeats::seat_before(std::size_t from, std::size_t to) const {
  const CodeNode& source = graph_.nodes[from];
  if (!source.before.rsp || !source.is_emulated) return std::nullopt;
  if (is_real_branch(source)) return seat_on(from, to);
  if (!changes_nothing(source) || !source.has_all_ways || source.next.size() != 1) return std::nullopt;
  return std::pair(Seat{.node = from, .condition = std::nullopt}, *certain_[to]);
}

/// On a branch one of whose ways, or both, lead inside.
std::optional<std::pair<Seat, ResultHolders>> ReturnSeats::seat_on(std::size_t branch, std::size_t to) const {
  const CodeNode& node = graph_.nodes[branch];
  const std::uint64_t vaddr = graph_.nodes[to].instruction.vaddr;
  const bool leads_there = vaddr == node.instruction.next_vaddr() || vaddr == *node.instruction.target;
  if (!leads_there || node.in_tight_loop) return std::nullopt;
  for (const std::size_t other : node.next) {
    if (other == to || !inside_[other] || is_skipped(other) || has_seat_[other]) continue;
    const ResultHolders both = common(on_way(graph_, branch, to, *certain_[to]),  //
                                      on_way(graph_, branch, other, *certain_[other]));
    // The other way's seat is the one that can lie further on: failures are rare.
    if (both.empty() && certain_[to]->constant) return std::nullopt;
    if (both.empty() && certain_[other]->constant) continue;
    if (both.empty()) return std::nullopt;
    return std::pair(Seat{.node = branch, .condition = std::nullopt}, both);
  }
  if (failures_ == Failures::kAtReturns && is_failure(to)) return std::nullopt;
  return std::pair(seat_on_branch(graph_, branch, to), *certain_[to]);
}

SizeSeats::SizeSeats(const CodeGraph& graph, const std::vector<std::size_t>& wanted, const std::vector<bool>& usable,
                     const std::set<std::size_t>& taken)
    : graph_(graph), usable_(usable), taken_(taken), behind_(graph.nodes.size()), known_(graph.nodes.size()) {
  choose(wanted);
  leave_out_needless(wanted);
  find_known();
}

/// Whether every path to one of `wanted` has read the size.
bool SizeSeats::cover(const std::vector<std::size_t>& wanted) const {
  const auto leads_past_all = [&](std::size_t from, std::size_t next) {
    return !seats_.contains({.node = from, .condition = std::nullopt}) &&
           !(graph_.nodes[from].is_branch() && seats_.contains(seat_on_branch(graph_, from, next)));
  };
  const std::vector<bool> reached = reached_over(graph_, graph_.entry, leads_past_all);
  return std::none_of(wanted.begin(), wanted.end(), [&](std::size_t node) { return reached[node]; });
}

/// Each of them is chosen for what comes behind it alone. Where all paths to one have passed another it would cost a
/// trap, and open the call once more.
void SizeSeats::leave_out_needless(const std::vector<std::size_t>& wanted) {
  const std::vector<Seat> chosen(seats_.rbegin(), seats_.rend());
  for (const Seat& seat : chosen) {
    seats_.erase(seat);
    if (!cover(wanted)) seats_.insert(seat);
  }
}

bool SizeSeats::can_sit(std::size_t node) const {
  // The kernel's emulation of a call leaves the shadow stack behind, where there is one.
  return usable_[node] && graph_.nodes[node].is_emulated && !graph_.nodes[node].is_call() && !taken_.contains(node);
}

std::optional<Seat> SizeSeats::seat_of(std::size_t from, std::size_t to) const {
  const CodeNode& source = graph_.nodes[from];
  const auto is_behind = [&](std::size_t node) { return behind_[node]; };
  if (can_sit(from) && !source.in_tight_loop) {
    const bool is_only_way = source.next.size() == 1 && !source.is_branch();
    const bool lead_all = std::all_of(source.next.begin(), source.next.end(), is_behind);
    if (is_only_way || (lead_all && source.has_all_ways)) return Seat{.node = from, .condition = std::nullopt};
    if (is_real_branch(source)) return seat_on_branch(graph_, from, to);
  }
  const std::vector<std::size_t>& previous = graph_.nodes[to].previous;
  if (can_sit(to) && std::none_of(previous.begin(), previous.end(), is_behind)) {
    return Seat{.node = to, .condition = std::nullopt};
  }
  return std::nullopt;
}

/// From what is wanted backwards, until every way in has a seat.
void SizeSeats::choose(const std::vector<std::size_t>& wanted) {
  for (const std::size_t node : wanted) behind_[node] = true;
  for (bool settled = false; !settled && !is_at_entry_;) {
    settled = true;
    seats_.clear();
    for (std::size_t node = 0; node < behind_.size(); ++node) {
      if (!behind_[node]) continue;
      if (node == graph_.entry) is_at_entry_ = true;
      for (const std::size_t previous : graph_.nodes[node].previous) {
        if (behind_[previous]) continue;
        if (const std::optional<Seat> seat = seat_of(previous, node)) {
          seats_.insert(*seat);
          continue;
        }
        behind_[previous] = true;
        settled = false;
      }
    }
  }
  if (is_at_entry_) seats_.clear();
}

void SizeSeats::find_known() {
  std::vector<std::size_t> pending;
  const auto reach = [&](std::size_t node) {
    if (known_[node]) return;
    known_[node] = true;
    pending.push_back(node);
  };
  if (is_at_entry_) reach(graph_.entry);
  for (const Seat& seat : seats_) {
    for (const std::size_t next : graph_.nodes[seat.node].next) {
      if (!seat.condition || seat_on_branch(graph_, seat.node, next).condition == seat.condition) reach(next);
    }
  }
  while (!pending.empty()) {
    const std::size_t at = pending.back();
    pending.pop_back();
    for (const std::size_t next : graph_.nodes[at].next) reach(next);
  }
}

}  // namespace hawk
