#include "userspace/elf/elf_segments.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace hawk {
namespace {

/// A piece of code starts at a multiple of this and is twice as long, so that any request lies within one piece.
constexpr std::uint64_t kCodePieceBytes = 64u << 10;

constexpr std::uint64_t kMaxSearchedBytes = 64u << 20;
constexpr std::uint64_t kSearchPieceBytes = 1u << 20;

bool sum_overflows(std::uint64_t a, std::uint64_t b) { return a > std::numeric_limits<std::uint64_t>::max() - b; }

}  // namespace

void ElfSegments::add(const LoadSegment& segment) {
  if (segment.file_offset >= file_.size_bytes()) return;
  LoadSegment clipped = segment;
  clipped.file_bytes = std::min(segment.file_bytes, file_.size_bytes() - segment.file_offset);
  if (clipped.file_bytes == 0 || sum_overflows(clipped.vaddr, clipped.file_bytes)) return;
  segments_.push_back(clipped);
}

const LoadSegment* ElfSegments::segment_at(std::uint64_t vaddr) const {
  for (const LoadSegment& segment : segments_) {
    if (vaddr >= segment.vaddr && vaddr - segment.vaddr < segment.file_bytes) return &segment;
  }
  return nullptr;
}

std::optional<std::uint64_t> ElfSegments::file_offset_of(std::uint64_t vaddr) const {
  const LoadSegment* segment = segment_at(vaddr);
  if (segment == nullptr) return std::nullopt;
  return segment->file_offset + (vaddr - segment->vaddr);
}

std::optional<std::uint64_t> ElfSegments::vaddr_of(std::uint64_t file_offset) const {
  for (const LoadSegment& segment : segments_) {
    if (file_offset >= segment.file_offset && file_offset - segment.file_offset < segment.file_bytes) {
      return segment.vaddr + (file_offset - segment.file_offset);
    }
  }
  return std::nullopt;
}

std::optional<std::uint64_t> ElfSegments::code_bias(std::uint64_t file_offset, std::uint64_t bytes) const {
  std::optional<std::uint64_t> bias;
  for (const LoadSegment& segment : segments_) {
    const bool touches =
        segment.file_offset < file_offset + bytes && file_offset < segment.file_offset + segment.file_bytes;
    if (!segment.executable || !touches) continue;
    if (bias) return std::nullopt;
    bias = segment.vaddr - segment.file_offset;
  }
  return bias;
}

std::vector<LoadSegment> ElfSegments::code() const {
  std::vector<LoadSegment> code;
  std::copy_if(segments_.begin(), segments_.end(), std::back_inserter(code),
               [](const LoadSegment& segment) { return segment.executable; });
  return code;
}

bool ElfSegments::is_executable(std::uint64_t vaddr) const {
  const LoadSegment* segment = segment_at(vaddr);
  return segment != nullptr && segment->executable;
}

std::vector<std::uint8_t> ElfSegments::read(std::uint64_t vaddr, std::uint64_t wanted_bytes) const {
  const LoadSegment* segment = segment_at(vaddr);
  if (segment == nullptr) return {};
  const std::uint64_t skipped_bytes = vaddr - segment->vaddr;
  return file_.read(segment->file_offset + skipped_bytes, std::min(wanted_bytes, segment->file_bytes - skipped_bytes));
}

std::size_t ElfSegments::read(std::uint64_t vaddr, std::span<std::uint8_t> buffer) const {
  const LoadSegment* segment = segment_at(vaddr);
  if (segment == nullptr) return 0;
  const std::uint64_t skipped_bytes = vaddr - segment->vaddr;
  const std::uint64_t there_bytes = std::min<std::uint64_t>(buffer.size(), segment->file_bytes - skipped_bytes);
  return file_.read(segment->file_offset + skipped_bytes, buffer.first(there_bytes));
}

std::span<const std::uint8_t> ElfSegments::code_at(std::uint64_t vaddr, std::size_t max_bytes) const {
  const LoadSegment* segment = segment_at(vaddr);
  if (segment == nullptr || !segment->executable) return {};
  const std::uint64_t piece_start = std::max(segment->vaddr, vaddr / kCodePieceBytes * kCodePieceBytes);
  auto found = code_.find(piece_start);
  if (found == code_.end()) found = code_.emplace(piece_start, read(piece_start, 2 * kCodePieceBytes)).first;
  const std::span<const std::uint8_t> piece = found->second;
  const std::uint64_t skipped_bytes = vaddr - piece_start;
  if (skipped_bytes >= piece.size()) return {};
  const std::size_t wanted_bytes = std::min<std::size_t>(max_bytes, kCodePieceBytes);
  return piece.subspan(skipped_bytes, std::min<std::size_t>(wanted_bytes, piece.size() - skipped_bytes));
}

ElfSegments::CodeSearch ElfSegments::search_code(std::span<const std::uint8_t> bytes) const {
  std::uint64_t searched_bytes = 0;
  for (const LoadSegment& segment : segments_) {
    if (!segment.executable) continue;
    searched_bytes += segment.file_bytes;
    if (searched_bytes > kMaxSearchedBytes) return {.is_whole = false, .vaddr = {}};
    for (std::uint64_t at = 0; at < segment.file_bytes; at += kSearchPieceBytes) {
      // Pieces overlap, so that nothing is missed between two of them.
      const std::uint64_t wanted_bytes = std::min(kSearchPieceBytes + bytes.size(), segment.file_bytes - at);
      const std::vector<std::uint8_t> piece = file_.read(segment.file_offset + at, wanted_bytes);
      if (piece.size() < wanted_bytes) return {.is_whole = false, .vaddr = {}};
      const auto found = std::search(piece.begin(), piece.end(), bytes.begin(), bytes.end());
      if (found == piece.end()) continue;
      return {.is_whole = true, .vaddr = segment.vaddr + at + static_cast<std::uint64_t>(found - piece.begin())};
    }
  }
  return {.is_whole = true, .vaddr = {}};
}

}  // namespace hawk
