#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "userspace/code/arch/x86_64/call_operands.h"
#include "userspace/code/arch/x86_64/result_flow.h"
#include "userspace/code/yield_plan.h"

namespace hawk {

/// Calls of one other function by which a function has blocks made, and whose results it returns as they are.
struct InlinedCalls {
  struct Call {
    std::size_t node = 0;
    InnerCall frame;
  };
  std::uint64_t callee_vaddr = 0;
  std::uint8_t size_register = 0;  ///< in which the callee gets what the program has asked for
  std::vector<Call> calls;         ///< all calls of it; empty: there is no such function
  std::vector<bool> behind;        ///< nodes that paths come by when such a call has returned
};

/// What is known of other functions.
struct CalleeFacts {
  std::function<CodeTarget(std::size_t node)> target_at;
  /// Whether a function of the allocator, or code that is not known, might be called.
  std::function<bool(const CodeTarget&)> may_allocate;
  std::function<bool(const CodeTarget&)> may_throw;
};

/// What is proved of the calls is claim 9 of YieldPlan, but for what the callee does. `certain`: of the same graph.
InlinedCalls find_inlined_calls(const CodeGraph& graph, const CallOperands& operands, bool asks_for_product,
                                const std::vector<std::optional<ResultHolders>>& certain, const CalleeFacts& facts);

/// What is left of the function where no such call returns.
CodeGraph without_returns_of(const CodeGraph& graph, const InlinedCalls& inlined);

}  // namespace hawk
