#include "userspace/process/piecewise_reading.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace hawk {
namespace {

constexpr std::uint64_t kPageBytes = 4096;
constexpr std::uint64_t kMostBytesAtOnce = 1U << 16;

std::uint64_t page_of(std::uint64_t address) { return address / kPageBytes; }

}  // namespace

PiecewiseReading::PiecewiseReading(std::span<const AddressRange> pieces) {
  for (std::size_t number = 0; number < pieces.size(); ++number) {
    if (pieces[number].start < pieces[number].end) pieces_.push_back({.range = pieces[number], .number = number});
  }
  std::sort(pieces_.begin(), pieces_.end(), [](const Piece& a, const Piece& b) {
    return std::tie(a.range.start, a.number) < std::tie(b.range.start, b.number);
  });
  for (const Piece& piece : pieces_) {
    // From a page's beginning: the kernel reads as much at a time, which would lie on two pages each time otherwise.
    const std::uint64_t start = page_of(piece.range.start) * kPageBytes;
    const bool follows = !steps_.empty() && page_of(piece.range.start) <= page_of(steps_.back().end - 1) + 1 &&
                         piece.range.end - steps_.back().start <= kMostBytesAtOnce;
    if (!follows) steps_.push_back({.start = start, .end = piece.range.end});
    Step& step = steps_.back();
    step.end = std::max(step.end, piece.range.end);
    ++step.pieces;
  }
}

void PiecewiseReading::visit_each(MemoryReader& memory, std::span<const Piece> pieces, const Visitor& visit) {
  for (const Piece& piece : pieces) {
    buffer_.resize(piece.range.end - piece.range.start);
    if (memory.read(piece.range.start, buffer_)) visit(piece.number, buffer_);
  }
}

void PiecewiseReading::read(MemoryReader& memory, const Visitor& visit) {
  std::span<const Piece> left = pieces_;
  for (Step& step : steps_) {
    const std::span<const Piece> pieces = left.first(step.pieces);
    left = left.subspan(step.pieces);
    buffer_.resize(step.end - step.start);
    if (!memory.read(step.start, buffer_)) {
      visit_each(memory, pieces, visit);
      continue;
    }
    if (buffer_ == step.fine) continue;
    bool is_fine = true;
    for (const Piece& piece : pieces) {
      is_fine &= visit(piece.number,
                       std::span(buffer_).subspan(piece.range.start - step.start, piece.range.end - piece.range.start));
    }
    if (is_fine) std::swap(step.fine, buffer_);
  }
}

}  // namespace hawk
