#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "userspace/code/arch/x86_64/value_flow.h"
#include "userspace/code/yield_points.h"

namespace hawk {

/// Which argument of a call is what.
struct Meaning {
  std::optional<std::size_t> size;
  std::optional<std::size_t> factor;
  std::optional<std::size_t> block;
};
Meaning meaning_of(hawk_call_kind kind);

/// Values are followed by what they mean: the size, its factor, the block, or where one is to be stored (and kProduct).
constexpr std::size_t kSize = 0;
constexpr std::size_t kFactor = 1;
constexpr std::size_t kBlock = 2;
/// The registers that they are passed in.
std::array<std::optional<std::uint8_t>, 3> passed_in(const SeenFunction& function);

/// Whether something has to be done, or to be remembered, at the entry already.
bool must_open_at_entry(hawk_call_kind kind);
/// Whether it returns a pointer, and 0 when it fails.
bool returns_block(hawk_call_kind kind);

/// A register, or a word of the stack that can be named from rsp; nullopt: neither holds it.
std::optional<Operand> operand_of(const Holders& holders, const StackState& stack);

/// Where at each instruction of a function the call's size and frame are.
class CallOperands {
 public:
  /// `graph` must outlive it.
  CallOperands(const CodeGraph& graph, const SeenFunction& function)
      : graph_(graph), kind_(function.kind), values_(follow_values(graph, passed_in(function))) {}

  struct Size {
    Operand size;
    Operand factor;
  };
  std::optional<Size> size_at(std::size_t node) const;
  /// Sets how the point gets to the caller's frame. False: that is not known.
  bool set_frame(std::size_t node, YieldPoint& point) const;
  /// By the node's index.
  const std::vector<Values>& values() const { return values_; }

 private:
  const CodeGraph& graph_;
  const hawk_call_kind kind_;
  const std::vector<Values> values_;
};

}  // namespace hawk
