/// Layout: glibc, elf/dl-lookup.c and elf/setup_hash.c: bucket count, index of the first symbol hashed, count of filter
/// words, filter shift; the filter's 64-bit words; the buckets, each the index of its first symbol; one word for each
/// symbol from the first on, its hash with the last bit set where a bucket ends.
#include "userspace/elf/gnu_hash_table.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "userspace/elf/byte_view.h"

namespace hawk {
namespace {

constexpr std::size_t kHeaderBytes = 16;
/// Header and filter of nearly every library at once.
constexpr std::size_t kHeadBytes = 2048;
/// A bound on damaged tables; a sound one has a few symbols in a bucket.
constexpr std::uint64_t kMaxBucketLength = 65536;

}  // namespace

std::optional<GnuHashTable> GnuHashTable::read(const ElfSegments& segments, std::uint64_t vaddr) {
  std::array<std::uint8_t, kHeadBytes> head;
  const std::size_t got = segments.read(vaddr, head);
  if (vaddr == 0 || got < kHeaderBytes) return std::nullopt;
  std::array<std::uint32_t, 4> header;
  std::memcpy(header.data(), head.data(), kHeaderBytes);
  const std::uint64_t filter_bytes = std::uint64_t{header[2]} * sizeof(std::uint64_t);
  if (header[0] == 0 || header[2] == 0 || header[3] >= 32 || filter_bytes > segments.file().size_bytes())
    return std::nullopt;
  GnuHashTable table(segments);
  table.vaddr_ = vaddr;
  table.head_.assign(head.begin(), head.begin() + static_cast<std::ptrdiff_t>(got));
  table.bucket_count_ = header[0];
  table.first_hashed_ = header[1];
  table.filter_shift_ = header[3];
  table.filter_.resize(header[2]);
  if (filter_bytes <= got - kHeaderBytes) {
    std::memcpy(table.filter_.data(), head.data() + kHeaderBytes, filter_bytes);
  } else if (segments.read(vaddr + kHeaderBytes, bytes_of(std::span(table.filter_))) != filter_bytes) {
    return std::nullopt;
  }
  table.buckets_vaddr_ = vaddr + kHeaderBytes + filter_bytes;
  table.chains_vaddr_ = table.buckets_vaddr_ + std::uint64_t{header[0]} * sizeof(std::uint32_t);
  return table;
}

/// Returns how many of them there are.
std::size_t GnuHashTable::read_words(std::uint64_t vaddr, std::span<std::uint32_t> words) const {
  const std::uint64_t offset = vaddr - vaddr_;
  if (offset < head_.size() && head_.size() - offset >= words.size_bytes()) {
    std::memcpy(words.data(), head_.data() + offset, words.size_bytes());
    return words.size();
  }
  return segments_->read(vaddr, bytes_of(words)) / sizeof(std::uint32_t);
}

bool GnuHashTable::may_contain(std::uint32_t hash) const {
  const std::uint64_t word = filter_[hash / 64 % filter_.size()];
  return (word >> hash % 64 & word >> (hash >> filter_shift_) % 64 & 1) != 0;
}

template <class Visit>
void GnuHashTable::for_each_in_bucket(std::uint64_t first, const Visit& visit) const {
  if (first < first_hashed_ || first == 0) return;
  std::array<std::uint32_t, 16> hashes;
  for (std::uint64_t index = first; index < first + kMaxBucketLength;) {
    const std::uint64_t vaddr = chains_vaddr_ + (index - first_hashed_) * sizeof(std::uint32_t);
    const std::size_t count = read_words(vaddr, hashes);
    if (count == 0) return;
    for (std::size_t i = 0; i < count; ++i) {
      visit(index + i, hashes[i]);
      if ((hashes[i] & 1) != 0) return;
    }
    index += count;
  }
}

std::vector<std::uint64_t> GnuHashTable::symbols(std::uint32_t hash) const {
  std::vector<std::uint64_t> found;
  std::array<std::uint32_t, 1> bucket;
  const std::uint64_t bucket_vaddr = buckets_vaddr_ + std::uint64_t{hash % bucket_count_} * sizeof(std::uint32_t);
  if (read_words(bucket_vaddr, bucket) != bucket.size()) return found;
  for_each_in_bucket(bucket[0], [&](std::uint64_t index, std::uint32_t known) {
    if ((known | 1) == (hash | 1)) found.push_back(index);
  });
  return found;
}

std::uint64_t GnuHashTable::symbol_count() const {
  std::uint64_t count = 0;
  const std::vector<std::uint8_t> buckets =
      segments_->read(buckets_vaddr_, std::uint64_t{bucket_count_} * sizeof(std::uint32_t));
  std::uint32_t last = 0;
  for (std::size_t at = 0; at + sizeof(last) <= buckets.size(); at += sizeof(last)) {
    std::uint32_t first = 0;
    std::memcpy(&first, buckets.data() + at, sizeof(first));
    last = std::max(last, first);
  }
  for_each_in_bucket(last, [&](std::uint64_t index, std::uint32_t) { count = index + 1; });
  return count;
}

}  // namespace hawk
