#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "userspace/code/arch/x86_64/result_flow.h"

namespace hawk {

/// An instruction that can be probed, and when a hit counts.
struct Seat {
  std::size_t node = 0;
  std::optional<std::uint8_t> condition;  ///< see YieldPoint
  bool operator<(const Seat& other) const {
    return std::pair(node, condition) < std::pair(other.node, other.condition);
  }
};

/// Whether a probe there can tell its ways apart.
bool is_real_branch(const CodeNode& node);
/// For the way from a branch to `next`.
Seat seat_on_branch(const CodeGraph& graph, std::size_t branch, std::size_t next);
/// For the way to its target; whether that is a node does not matter.
Seat seat_if_taken(const CodeGraph& graph, std::size_t branch);

/// Where a way into a piece that returns the constant 0 is seen.
enum class Failures : std::uint8_t {
  kUnseen,
  kAtBranches,
  kAtReturns,  ///< where others would run into the branch too: they would all pay for what is rare
};

/// Chooses where returns are seen: a part of the certain part (result_flow.h) that is left by `ret` alone, into
/// which each way leads over a seat.
class ReturnSeats {
 public:
  ReturnSeats(const CodeGraph& graph, const std::vector<std::optional<ResultHolders>>& certain, Failures failures);

  /// With what is returned there.
  const std::map<Seat, ResultHolders>& seats() const { return seats_; }

 private:
  bool is_failure(std::size_t node) const;
  bool is_skipped(std::size_t node) const;
  void remove(std::size_t node);
  void settle(std::size_t node);
  bool is_entered_from_outside_only(std::size_t node) const;
  std::optional<std::pair<Seat, ResultHolders>> seat_before(std::size_t from, std::size_t to) const;
  std::optional<std::pair<Seat, ResultHolders>> seat_on(std::size_t branch, std::size_t to) const;

  const CodeGraph& graph_;
  const std::vector<std::optional<ResultHolders>>& certain_;
  const Failures failures_;
  std::vector<bool> inside_;
  std::vector<bool> has_seat_;  ///< on itself, for all ways into it
  std::map<Seat, ResultHolders> seats_;
};

/// Chooses where the size is read: so that no path reaches one of `wanted` without, and as few others as possible.
class SizeSeats {
 public:
  /// `usable`: nodes at which a seat may be. `taken`: which have one of another sort.
  SizeSeats(const CodeGraph& graph, const std::vector<std::size_t>& wanted, const std::vector<bool>& usable,
            const std::set<std::size_t>& taken);

  bool is_at_entry() const { return is_at_entry_; }
  const std::set<Seat>& seats() const { return seats_; }
  /// Nodes before which, on some path, the size has been read.
  const std::vector<bool>& known() const { return known_; }

 private:
  bool can_sit(std::size_t node) const;
  std::optional<Seat> seat_of(std::size_t from, std::size_t to) const;
  void choose(const std::vector<std::size_t>& wanted);
  bool cover(const std::vector<std::size_t>& wanted) const;
  void leave_out_needless(const std::vector<std::size_t>& wanted);
  void find_known();

  const CodeGraph& graph_;
  const std::vector<bool>& usable_;
  const std::set<std::size_t>& taken_;
  std::vector<bool> behind_;
  std::vector<bool> known_;
  std::set<Seat> seats_;
  bool is_at_entry_ = false;
};

}  // namespace hawk
