#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "userspace/code/arch/x86_64/call_operands.h"
#include "userspace/code/arch/x86_64/code_graph.h"
#include "userspace/code/arch/x86_64/inlined_calls.h"
#include "userspace/code/arch/x86_64/result_flow.h"
#include "userspace/code/arch/x86_64/wrapped_call.h"
#include "userspace/code/arch/x86_64/yield_seats.h"
#include "userspace/code/yield_points.h"

namespace hawk {

/// Makes the plan of one function from a walk through it. All that it is given must outlive it.
class FunctionPlan {
 public:
  /// `walk` must be complete and have steps; `ends_path` is by what its paths have ended.
  FunctionPlan(BranchTargets& resolver, CallEffects& effects, const SeenFunctions& seen, FunctionExtent function,
               const SeenFunction& asked, std::uint64_t entry_probe_vaddr, const FunctionWalk& walk,
               const std::function<bool(const CodeTarget&)>& ends_path);

  /// Whether a call may come by the function's first instruction again, with other arguments.
  bool begins_again() const;

  YieldPlan run();
  /// Of a function all calls of which are open at its entry, by whatever has seen them before.
  YieldPlan run_opened();
  /// Of a function whose calls are seen where they return, and nowhere before.
  YieldPlan run_inside();
  /// Calls of another function by which the function has its blocks made, and whose results it returns.
  InlinedCalls inlined_calls();
  /// The plan with points in the other function in place of what is behind its calls; `inner`: of that one, as of
  /// run_inside().
  YieldPlan run_around(const InlinedCalls& inlined, const YieldPlan& inner);
  /// The call by which the function has its block made, and whose result it stores; nullopt: it does not.
  std::optional<WrappedCall> wrapped_call();
  /// Whether `inner`, which is called there, is asked for what the program asks for.
  bool passes_size(const WrappedCall& call, const SeenFunction& inner) const;
  /// The plan of such a function, where `inner` is that of the one that is called, as of run_opened().
  YieldPlan wrap(const WrappedCall& call, const YieldPlan& inner) const;

 private:
  /// What is left of another one, without the ways behind some of its calls.
  FunctionPlan(const FunctionPlan& whole, CodeGraph rest);

  /// Where a path leaves the code that is followed: a jump into another function.
  struct Exit {
    std::size_t node;
    CodeTarget target;
    std::optional<SeenFunction> seen;  ///< whose calls are seen in their own way
  };

  bool is_own(std::size_t node) const;
  bool is_first(std::size_t seat) const;
  void find_exits(const SeenFunctions& seen, const std::function<bool(const CodeTarget&)>& ends_path);

  // ---- which paths are which

  bool has_block(const Exit& exit) const;
  /// Nodes that lead to one of `to`, those included.
  std::vector<bool> leading_to(std::vector<std::size_t> pending) const;

  // ---- the plan

  YieldPlan make(bool opens_at_entry, Failures failures);
  /// The same, of which not all has been proved yet.
  YieldPlan choose_points(bool opens_at_entry, Failures failures);
  /// The same again, of what is left of a function.
  YieldPlan points_beside(const std::vector<std::size_t>& calls);
  std::vector<std::size_t> allocating_calls(const std::vector<std::size_t>& finals);
  SizeSeats seat_sizes(std::vector<std::size_t> wanted, const std::set<std::size_t>& taken, bool opens_at_entry);
  void add_sizes(const SizeSeats& sizes, YieldPlan& plan) const;
  YieldPoint point_on(const Seat& seat, PointKind kind) const;
  /// With one point in place of two wherever the block can be known where the size is.
  YieldPlan look_ahead(YieldPlan plan) const;
  bool is_failure(const ResultHolders& result) const;
  bool add_returns(const ReturnSeats& returns, const SizeSeats& sizes, YieldPlan& plan) const;

  /// Whether what the program asked for is what the function that goes on is called with.
  bool is_passed_on(const Exit& exit) const;
  std::optional<std::string> why_no_exit(const Exit& exit) const;
  std::optional<std::string> add_exits(const SizeSeats& sizes, const std::set<std::size_t>& taken,
                                       YieldPlan& plan) const;

  /// All returns must have been dealt with, and none at a price that every call pays.
  std::optional<std::string> why_incomplete(const ReturnSeats& returns) const;
  YieldPlan finished(YieldPlan plan) const;

  std::optional<YieldPoint> point_where_null(const WrappedCall& call) const;
  static void add_code_of(const YieldPlan& inner, YieldPlan& plan);
  /// Instructions behind one another are one piece.
  bool add_code(YieldPlan& plan) const;

  BranchTargets& resolver_;
  CallEffects& effects_;
  const FunctionExtent function_;
  const SeenFunction asked_;
  const std::uint64_t entry_probe_vaddr_;
  const CodeGraph graph_;
  const CallOperands operands_;
  const std::vector<std::optional<ResultHolders>> certain_;
  std::vector<Exit> exits_;
  std::vector<bool> usable_;
};

}  // namespace hawk
