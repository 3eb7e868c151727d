#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace hawk {

/// Calls of many stacks as paths of a tree, whose nodes are then numbered from 1; 0 is the root. For trees that are
/// only written down: once the paths are sorted each is compared with the one before alone, while a CallTree looks
/// every call up in a table that does not fit into the caches, which takes several times as long.
class NumberedPaths {
 public:
  /// The next call of the last path, inwards. What a call is known by is a number of the caller's choice.
  void push(std::uint32_t call) { calls_.push_back(call); }
  /// The last path is complete.
  void end_path() { ends_.push_back(calls_.size()); }

  /// Calls `add(node, parent, call)` for each node, in the order of their numbers: a parent comes before what is below
  /// it. Returns the node at which each path ends, in the order in which they were made.
  template <class Add>
  std::vector<std::uint32_t> number_nodes(const Add& add) const {
    std::vector<std::uint32_t> node_of(ends_.size());
    std::vector<std::uint32_t> nodes;  // of the path before
    std::span<const std::uint32_t> before;
    std::uint32_t last = 0;
    for (const std::size_t index : sorted()) {
      const std::span<const std::uint32_t> now = path(index);
      const auto differ = std::mismatch(before.begin(), before.end(), now.begin(), now.end()).second;
      nodes.resize(static_cast<std::size_t>(differ - now.begin()));
      for (std::size_t depth = nodes.size(); depth < now.size(); ++depth) {
        add(++last, depth == 0 ? 0 : nodes[depth - 1], now[depth]);
        nodes.push_back(last);
      }
      node_of[index] = nodes.empty() ? 0 : nodes.back();
      before = now;
    }
    return node_of;
  }

 private:
  std::span<const std::uint32_t> path(std::size_t index) const {
    const std::size_t first = index == 0 ? 0 : ends_[index - 1];
    return std::span(calls_).subspan(first, ends_[index] - first);
  }

  std::vector<std::size_t> sorted() const {
    std::vector<std::size_t> indices(ends_.size());
    std::iota(indices.begin(), indices.end(), std::size_t{0});
    std::sort(indices.begin(), indices.end(), [this](std::size_t one, std::size_t other) {
      const std::span<const std::uint32_t> a = path(one), b = path(other);
      return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
    });
    return indices;
  }

  std::vector<std::uint32_t> calls_;  ///< of all paths, one after the other
  std::vector<std::size_t> ends_;     ///< of each
};

}  // namespace hawk
