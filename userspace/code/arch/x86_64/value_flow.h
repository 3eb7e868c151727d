#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "userspace/code/arch/x86_64/code_graph.h"

namespace hawk {

/// Where a value is: registers, bits by number, and words of the stack by their position (see StackState).
struct Holders {
  std::uint32_t registers = 0;
  std::vector<std::int64_t> words;  ///< sorted

  bool empty() const { return registers == 0 && words.empty(); }
  bool holds(std::int64_t word) const;
  void add_word(std::int64_t word);
  /// Words that overlap [start, start + bytes).
  void drop_words(std::int64_t start, std::int64_t bytes);
  bool operator==(const Holders&) const = default;
};

Holders common(const Holders& a, const Holders& b);

/// From here upwards words of the stack are not private to the code: it has taken their address.
using StackLimit = std::int64_t;
constexpr StackLimit kNothingPrivate = std::numeric_limits<std::int64_t>::min();
StackLimit private_limit(const CodeGraph& graph);

/// The word that an operand reads or writes in whole.
std::optional<std::int64_t> stack_word(const ZydisDecodedOperand& operand, const StackState& state);

/// The values that are followed: arguments, and the product of the first two.
constexpr std::size_t kProduct = 3;
using Values = std::array<Holders, 4>;

/// Where each value is before each instruction, on whatever path it is reached, by the node's index. `passed_in`: the
/// registers of the arguments.
std::vector<Values> follow_values(const CodeGraph& graph, std::span<const std::optional<std::uint8_t>> passed_in);

/// Whether paths go from one node to the next, given where the values are before the first.
using Leads = std::function<bool(std::size_t from, std::size_t next, const Values& before)>;
/// The same along some ways only, from `start` on. nullopt: the node is not reached. Where `leads` says yes it must say
/// so of values in fewer places too.
std::vector<std::optional<Values>> follow_values_from(const CodeGraph& graph, std::size_t start, const Values& at_start,
                                                      const Leads& leads);

}  // namespace hawk
