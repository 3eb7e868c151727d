#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "userspace/base/address_range.h"
#include "userspace/process/memory_reader.h"

namespace hawk {

/// Many small pieces of a process's memory, read in few steps: pieces on the same pages, and on pages that follow each
/// other, in one. No page is read that has no piece, because a page that is read is one that the process has from then
/// on.
class PiecewiseReading {
 public:
  PiecewiseReading() = default;
  explicit PiecewiseReading(std::span<const AddressRange> pieces);

  /// Takes the number of a piece, and what is there.
  using Visitor = std::function<void(std::size_t number, std::span<const std::uint8_t> bytes)>;
  /// In the order of their addresses. What cannot be read is left out.
  void read(MemoryReader& memory, const Visitor& visit);

 private:
  struct Piece {
    AddressRange range;
    std::size_t number = 0;
  };
  /// Pieces that are read in one step.
  struct Step {
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    std::size_t pieces = 0;
  };

  void visit_each(MemoryReader& memory, std::span<const Piece> pieces, const Visitor& visit);

  std::vector<Piece> pieces_;  ///< those of each step behind each other
  std::vector<Step> steps_;
  std::vector<std::uint8_t> buffer_;
};

}  // namespace hawk
