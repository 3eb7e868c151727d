#include "userspace/elf/name_set.h"

#include <cstring>

#include "userspace/base/fibonacci_hash.h"

namespace hawk {
namespace {

constexpr std::size_t kFilteredBytes = 4;

/// The hash of DT_GNU_HASH: h * 33 + c, from 5381 on (glibc, elf/dl-new-hash.h; LLVM, djbHash).
std::uint32_t gnu_hash_of(std::string_view name) {
  std::uint32_t hash = 5381;
  for (const char character : name) hash = hash * 33 + static_cast<unsigned char>(character);
  return hash;
}

}  // namespace

NameSet::NameSet(std::span<const std::string_view> names) {
  entries_.reserve(names.size());
  for (const std::string_view name : names) {
    if (!indices_.emplace(name, entries_.size()).second) continue;
    entries_.push_back({name, gnu_hash_of(name)});
    if (name.size() < kFilteredBytes) {
      has_short_names_ = true;
      continue;
    }
    const std::size_t bit = filter_bit(name.data());
    filter_[bit / 64] |= std::uint64_t{1} << bit % 64;
  }
}

std::size_t NameSet::filter_bit(const char* text) {
  std::uint32_t head = 0;
  std::memcpy(&head, text, kFilteredBytes);
  return fibonacci_hash(head, kFilterBitsLog2);
}

bool NameSet::may_contain(const char* text) const {
  const std::size_t bit = filter_bit(text);
  return has_short_names_ || (filter_[bit / 64] >> bit % 64 & 1) != 0;
}

std::optional<std::size_t> NameSet::find(std::string_view name) const {
  const auto found = indices_.find(name);
  return found == indices_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace hawk
