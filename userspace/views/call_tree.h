#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "userspace/tables/counters.h"
#include "userspace/tables/word_numbers.h"

namespace hawk {

/// Calls of many stacks as a tree, of which each node stands for the calls from the root to it. What a call is known by
/// is a number of the caller's choice.
class CallTree {
 public:
  enum class Node : std::uint32_t {};
  static constexpr Node kRoot{0};

  struct Entry {
    Node parent{};
    std::uint32_t call = 0;
    std::uint32_t depth = 0;  ///< of the root: 0
    Counters own;             ///< of stacks that end here
  };

  /// The node for `call` below `parent`.
  Node below(Node parent, std::uint32_t call) {
    const std::uint64_t word = static_cast<std::uint64_t>(parent) << 32U | call;
    return numbers_.find_or_add(word, [&] {
      entries_.push_back({.parent = parent, .call = call, .depth = at(parent).depth + 1, .own = {}});
      return static_cast<Node>(entries_.size() - 1);
    });
  }
  Entry& at(Node node) { return entries_[static_cast<std::size_t>(node)]; }
  const Entry& at(Node node) const { return entries_[static_cast<std::size_t>(node)]; }
  std::size_t size() const { return entries_.size(); }

  /// The nodes below each, in the order in which they were made; by node.
  class Children {
   public:
    explicit Children(const CallTree& tree) : first_(tree.size() + 1), nodes_(tree.size() - 1) {
      for (std::size_t i = 1; i < tree.size(); ++i) ++first_[parent_of(tree, i) + 1];
      for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
      std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
      for (std::size_t i = 1; i < tree.size(); ++i) nodes_[next[parent_of(tree, i)]++] = static_cast<Node>(i);
    }
    std::vector<Node> of(Node node) const {
      const auto index = static_cast<std::size_t>(node);
      return {nodes_.begin() + first_[index], nodes_.begin() + first_[index + 1]};
    }

   private:
    static std::size_t parent_of(const CallTree& tree, std::size_t i) {
      return static_cast<std::size_t>(tree.entries_[i].parent);
    }
    std::vector<std::uint32_t> first_;
    std::vector<Node> nodes_;
  };

 private:
  std::vector<Entry> entries_ = std::vector<Entry>(1);
  WordNumbers<Node> numbers_;
};

}  // namespace hawk
