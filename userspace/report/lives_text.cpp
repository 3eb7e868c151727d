#include "userspace/report/lives_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "userspace/report/units.h"

namespace hawk {
namespace {

std::string time_text(std::size_t number) { return format_duration(BlockHistograms::least_of(number) * 1'000'000); }

std::uint64_t sum_of(std::span<const std::uint64_t> classes) {
  return std::accumulate(classes.begin(), classes.end(), std::uint64_t{0});
}

/// The class with the most blocks.
std::size_t fullest(std::span<const std::uint64_t> classes) {
  return static_cast<std::size_t>(std::max_element(classes.begin(), classes.end()) - classes.begin());
}

}  // namespace

std::string size_class_text(const TextPage& page, std::size_t number) {
  std::string least = page.bytes(BlockHistograms::least_of(number));
  if (number == 0) return least;
  if (number + 1 == BlockHistograms::kSizes) return least + " and more";
  return fmt::format("{} to below {}", least, page.bytes(BlockHistograms::least_of(number + 1)));
}

std::string lifetime_class_text(std::size_t number) {
  if (number == 0) return time_text(0);
  if (number + 1 == BlockHistograms::kLifetimes) return time_text(number) + " and more";
  return fmt::format("{} to below {}", time_text(number), time_text(number + 1));
}

std::string lives_text(const TextPage& page, std::span<const StackLives> lives) {
  BlockHistograms all;
  for (const StackLives& own : lives) all += own;
  const std::uint64_t allocated = sum_of(all.sizes);
  const std::uint64_t freed = sum_of(all.lifetimes);
  std::vector<std::string> pieces;
  if (allocated != 0) {
    const std::size_t most = fullest(all.sizes);
    pieces.push_back(
        fmt::format("sizes: {} {}", format_share(all.sizes[most], allocated), size_class_text(page, most)));
  }
  if (freed != 0) {
    const std::size_t most = fullest(all.lifetimes);
    pieces.push_back(
        fmt::format("lifetimes: {} {}", format_share(all.lifetimes[most], freed), lifetime_class_text(most)));
  }
  if (all.temporary != 0) pieces.push_back(fmt::format("temporary: {}", format_share(all.temporary, freed)));
  if (all.freed_by_others != 0) {
    pieces.push_back(fmt::format("freed by another thread: {}", page.blocks(all.freed_by_others)));
  }
  return fmt::format("{}", fmt::join(pieces, "; "));
}

}  // namespace hawk
