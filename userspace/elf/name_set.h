#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace hawk {

/// Names to be looked for in many symbol tables. The views must outlive it.
class NameSet {
 public:
  struct Entry {
    std::string_view name;
    std::uint32_t gnu_hash = 0;  ///< as DT_GNU_HASH tables are built with
  };

  explicit NameSet(std::span<const std::string_view> names);

  std::span<const Entry> entries() const { return entries_; }
  /// False for most names that are not in the set, at the price of one look at the first bytes. `text` begins a
  /// NUL-terminated name and at least four bytes may be read from there.
  bool may_contain(const char* text) const;
  /// Index into entries().
  std::optional<std::size_t> find(std::string_view name) const;

 private:
  static constexpr unsigned kFilterBitsLog2 = 12;
  static constexpr std::size_t kFilterBits = std::size_t{1} << kFilterBitsLog2;
  static std::size_t filter_bit(const char* text);

  std::vector<Entry> entries_;
  std::unordered_map<std::string_view, std::size_t> indices_;
  std::array<std::uint64_t, kFilterBits / 64> filter_ = {};
  bool has_short_names_ = false;  ///< names that the filter cannot judge
};

}  // namespace hawk
