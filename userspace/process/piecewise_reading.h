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

  /// Takes the number of a piece, and what is there. Whether that is as it should be, and needs no other visit for as
  /// long as it is the same.
  using Visitor = std::function<bool(std::size_t number, std::span<const std::uint8_t> bytes)>;
  /// In the order of their addresses. What cannot be read is left out, and what is read in one step if it is the same
  /// as when all in it was as it should be.
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
    std::vector<std::uint8_t> fine = {};  ///< what was there when all pieces were as they should be
  };

  void visit_each(MemoryReader& memory, std::span<const Piece> pieces, const Visitor& visit);

  std::vector<Piece> pieces_;  ///< those of each step behind each other
  std::vector<Step> steps_;
  std::vector<std::uint8_t> buffer_;
};

}  // namespace hawk
