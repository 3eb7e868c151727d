#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "userspace/code/arch/x86_64/value_flow.h"
#include "userspace/code/yield_plan.h"

namespace hawk {

/// How a function that stores its block where the program says has it made by another one.
struct WrappedCall {
  std::size_t node = 0;  ///< the call
  CodeTarget target;
  InnerCall inner;
  std::vector<std::size_t> failures;  ///< its `ret` on paths that do not come by the call
  /// The first branch behind the call that leads elsewhere when that returns null than when it returns a block, and
  /// where; nullopt: there is none.
  struct Branch {
    std::size_t node;
    std::size_t if_null;
  };
  std::optional<Branch> judged_at;
};

/// Where the frame of a direct call is, seen from the function's own; nullopt: that is not known.
std::optional<InnerCall> inner_call_at(const CodeNode& call);

/// Follows the instructions behind the call, of which each can do little. What is proved, if it is not nullopt:
///
/// - Of the calls in `graph` one alone may allocate. It is a direct one that no path comes by twice.
/// - When it returns a block, that is stored, in whole and once, where the first argument says (Values' kBlock), and
///   the function returns 0. When it returns null the result is not stored.
/// - Paths that do not come by the call return by a `ret` of their own, through which no others lead.
///
/// `may_allocate`: whether the call in a node might call a function of the allocator.
std::optional<WrappedCall> find_wrapped_call(const CodeGraph& graph, const std::vector<Values>& values,
                                             const std::function<bool(std::size_t)>& may_allocate);

}  // namespace hawk
