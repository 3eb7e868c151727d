#pragma once

#include <cstddef>
#include <map>
#include <optional>

namespace hawk {

/// Shares out the elements of an array among many owners, each of which has some that lie one after the other.
class IndexPool {
 public:
  /// Of an array of `size` elements, none of which is taken.
  explicit IndexPool(std::size_t size) : free_{{0, size}} {}

  /// Takes `count` elements, at least one; returns the first. nullopt: there are not so many in one place.
  std::optional<std::size_t> take(std::size_t count);
  /// Gives back what was taken.
  void give_back(std::size_t first, std::size_t count);

 private:
  std::map<std::size_t, std::size_t> free_;  ///< from which element on, and how many: never one behind the other
};

/// Elements of a pool, given back at the end. The pool must live longer.
class PooledArea {
 public:
  PooledArea() = default;
  explicit PooledArea(IndexPool& pool) : pool_(&pool) {}
  PooledArea(PooledArea&& other) noexcept;
  PooledArea& operator=(PooledArea&& other) noexcept;
  ~PooledArea() { clear(); }

  /// Takes room for `count` elements in place of what it had, which is lost, unless that is enough. False: there is
  /// none, and it has none then.
  bool require(std::size_t count);
  void clear();

  std::size_t first() const { return first_; }
  std::size_t size() const { return size_; }

 private:
  IndexPool* pool_ = nullptr;
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

}  // namespace hawk
