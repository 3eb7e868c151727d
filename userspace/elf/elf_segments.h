#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "userspace/base/unique_fd.h"
#include "userspace/elf/elf_bytes.h"

namespace hawk {

/// One PT_LOAD segment, clipped to what the file really holds.
struct LoadSegment {
  std::uint64_t vaddr = 0;
  std::uint64_t file_offset = 0;
  std::uint64_t file_bytes = 0;
  bool executable = false;
};

/// The loaded parts of an ELF file. Not thread-safe.
class ElfSegments {
 public:
  explicit ElfSegments(UniqueFd fd) : file_(std::move(fd)) {}

  const ElfBytes& file() const { return file_; }
  /// A copy that nothing can be read of: where addresses lie is known.
  ElfSegments without_file() const {
    ElfSegments copy{UniqueFd()};
    copy.segments_ = segments_;
    return copy;
  }
  /// Drops what lies outside the file or wraps around the address space.
  void add(const LoadSegment& segment);

  std::optional<std::uint64_t> file_offset_of(std::uint64_t vaddr) const;
  std::optional<std::uint64_t> vaddr_of(std::uint64_t file_offset) const;
  /// What to add to a file offset for the virtual address, the same throughout [file_offset, file_offset + bytes);
  /// nullopt unless exactly one executable segment has a part there.
  std::optional<std::uint64_t> code_bias(std::uint64_t file_offset, std::uint64_t bytes) const;
  bool is_executable(std::uint64_t vaddr) const;
  /// The executable ones, as they were added.
  std::vector<LoadSegment> code() const;

  /// Bytes from `vaddr` on; fewer where the segment or the file ends, none outside or above 256 MiB.
  std::vector<std::uint8_t> read(std::uint64_t vaddr, std::uint64_t wanted_bytes) const;
  /// As read(), into the front of `buffer`.
  std::size_t read(std::uint64_t vaddr, std::span<std::uint8_t> buffer) const;
  /// Bytes of an executable segment, at most 64 KiB at once; valid as long as this object.
  std::span<const std::uint8_t> code_at(std::uint64_t vaddr, std::size_t max_bytes) const;
  /// Where in the executable segments bytes stand first.
  struct CodeSearch {
    bool is_whole = false;  ///< all was searched, up to there; not if there are more than 64 MiB
    std::optional<std::uint64_t> vaddr;
  };
  CodeSearch search_code(std::span<const std::uint8_t> bytes) const;

 private:
  const LoadSegment* segment_at(std::uint64_t vaddr) const;

  ElfBytes file_;
  std::vector<LoadSegment> segments_;
  /// Pieces of code read so far, by vaddr of their first byte: nodes of a map stay where they are, so spans stay valid.
  mutable std::map<std::uint64_t, std::vector<std::uint8_t>> code_;
};

}  // namespace hawk
