#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "userspace/elf/elf_segments.h"

namespace hawk {

/// A DT_GNU_HASH table, read as far as look-ups need it: the filter in front says of nearly every name that is not
/// there that it is not, so that a file without allocator costs a handful of small reads, however many symbols it has.
class GnuHashTable {
 public:
  /// nullopt when there is no such table at `vaddr`. `segments` must outlive the table.
  static std::optional<GnuHashTable> read(const ElfSegments& segments, std::uint64_t vaddr);

  /// Whether the filter lets the hash pass.
  bool may_contain(std::uint32_t hash) const;
  /// Indices of the symbols whose names have this hash; the last bit of it counts for nothing.
  std::vector<std::uint64_t> symbols(std::uint32_t hash) const;
  /// Index of the last symbol that the table knows, plus one; 0: it knows none.
  std::uint64_t symbol_count() const;

 private:
  /// The hashes in the bucket whose first symbol is `first`, one by one, until `visit` is done with them.
  template <class Visit>
  void for_each_in_bucket(std::uint64_t first, const Visit& visit) const;
  explicit GnuHashTable(const ElfSegments& segments) : segments_(&segments) {}

  std::size_t read_words(std::uint64_t vaddr, std::span<std::uint32_t> words) const;

  const ElfSegments* segments_;
  std::uint64_t vaddr_ = 0;
  std::vector<std::uint8_t> head_;  ///< what is there: all of a small table
  std::uint32_t bucket_count_ = 0;
  std::uint32_t first_hashed_ = 0;  ///< index of the first symbol that the table knows
  std::uint32_t filter_shift_ = 0;
  std::vector<std::uint64_t> filter_;
  std::uint64_t buckets_vaddr_ = 0;
  std::uint64_t chains_vaddr_ = 0;
};

}  // namespace hawk
