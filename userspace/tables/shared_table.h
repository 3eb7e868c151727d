#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

namespace hawk {

/// A list that only grows, and whose copies share their elements: to copy a million of them is to copy a thousand
/// pointers. A copy never changes when the original grows, and may be read by another thread meanwhile; one that grows
/// itself gets elements of its own.
template <class T>
class SharedTable {
 public:
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = const T*;
    using reference = const T&;

    Iterator() = default;
    Iterator(const SharedTable* table, std::size_t index) : table_(table), index_(index) {}
    reference operator*() const { return (*table_)[index_]; }
    pointer operator->() const { return &(*table_)[index_]; }
    Iterator& operator++() {
      ++index_;
      return *this;
    }
    Iterator operator++(int) { return {table_, index_++}; }
    bool operator==(const Iterator& other) const { return index_ == other.index_; }

   private:
    const SharedTable* table_ = nullptr;
    std::size_t index_ = 0;
  };

  SharedTable() = default;
  SharedTable(std::initializer_list<T> values) {
    for (const T& value : values) push_back(value);
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const T& operator[](std::size_t index) const { return chunks_[index / kChunk]->data()[index % kChunk]; }
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, size_}; }

  void push_back(T value) {
    const std::size_t used = size_ % kChunk;
    if (used == 0) {
      chunks_.push_back(new_chunk());
    } else if (chunks_.back()->size() != used) {  // a copy, or the original of one, has gone on here
      const std::shared_ptr<Chunk> others = std::exchange(chunks_.back(), new_chunk());
      chunks_.back()->assign(others->data(), others->data() + used);
    }
    chunks_.back()->push_back(std::move(value));
    ++size_;
  }

  bool operator==(const SharedTable& other) const {
    return size_ == other.size_ && std::equal(begin(), end(), other.begin());
  }

 private:
  static constexpr std::size_t kChunk = 1024;
  /// Has room for kChunk elements from the start, so that they stay where they are. Of the last one, which others may
  /// share, only the first elements are ours.
  using Chunk = std::vector<T>;

  static std::shared_ptr<Chunk> new_chunk() {
    auto chunk = std::make_shared<Chunk>();
    chunk->reserve(kChunk);
    return chunk;
  }

  std::vector<std::shared_ptr<Chunk>> chunks_;
  std::size_t size_ = 0;
};

}  // namespace hawk
