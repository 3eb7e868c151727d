#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "userspace/code/arch/x86_64/value_flow.h"

namespace hawk {

/// Where what a function is going to return is.
struct ResultHolders {
  Holders holders;
  std::optional<std::uint32_t> constant;  ///< it is this

  bool empty() const { return holders.empty() && !constant; }
};

/// What holds on both ways.
ResultHolders common(const ResultHolders& a, const ResultHolders& b);
/// Before the way from `from` to `next`: where the result is 0, a register that has been found to be 0 holds it too.
ResultHolders on_way(const CodeGraph& graph, std::size_t from, std::size_t next, const ResultHolders& at_next);

/// The certain part of a function: the instructions from which all paths lead to a `ret`, without a call, a loop or
/// anything else that could happen, but for those that end the program (CodeNode). By the node's index; nullopt: it is
/// not in that part.
///
/// `is_error_code`: the function returns 32 bits, and the block through memory, where it has been stored before the
/// certain part.
std::vector<std::optional<ResultHolders>> follow_results(const CodeGraph& graph, bool is_error_code);

}  // namespace hawk
