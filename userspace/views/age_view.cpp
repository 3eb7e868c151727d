#include "userspace/views/age_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "userspace/report/display_text.h"
#include "userspace/report/units.h"

namespace hawk {
namespace {

/// Those of the blocks that are in the window.
std::vector<AgedBlocks> blocks_in(const LiveAges& ages, const AgeWindow& window) {
  std::vector<AgedBlocks> blocks;
  std::copy_if(ages.blocks.begin(), ages.blocks.end(), std::back_inserter(blocks),
               [&](const AgedBlocks& aged) { return window.has(ages, aged); });
  return blocks;
}

/// What stacks and targets hold of the blocks, in the order of both.
std::vector<StackShare> shares_of(const std::vector<AgedBlocks>& blocks) {
  std::vector<StackShare> shares;
  for (const AgedBlocks& aged : blocks) {
    if (shares.empty() || shares.back().stack != aged.stack || shares.back().target != aged.target) {
      shares.push_back({.stack = aged.stack, .target = aged.target, .counters = {}});
    }
    shares.back().counters += aged.counters();
  }
  return shares;
}

}  // namespace

Snapshot narrowed_to_ages(const Snapshot& snapshot, const AgeWindow& window) {
  Snapshot narrowed = snapshot;
  narrowed.narrowing = AgeNarrowing{.window = window, .whole = snapshot.totals};
  narrowed.totals = {};
  for (StackRecord& stack : narrowed.stacks) stack.counters = {};
  for (TargetPart& part : narrowed.parts) part.totals = {};
  narrowed.ages->blocks = blocks_in(*snapshot.ages, window);
  std::vector<StackShare> shares = shares_of(narrowed.ages->blocks);
  auto stack = narrowed.stacks.begin();
  for (const StackShare& share : shares) {
    while (stack != narrowed.stacks.end() && stack->id < share.stack) ++stack;
    if (stack == narrowed.stacks.end()) break;
    if (stack->id != share.stack) continue;
    stack->counters += share.counters;
    narrowed.totals += share.counters;
    const auto target = static_cast<std::size_t>(share.target);
    if (target < narrowed.parts.size()) narrowed.parts[target].totals += share.counters;
  }
  std::erase_if(narrowed.stacks, [](const StackRecord& record) { return record.counters.allocated_count == 0; });
  narrowed.shares = narrowed.parts.empty() ? std::vector<StackShare>{} : std::move(shares);
  return narrowed;
}

std::string age_window_text(const AgeWindow& window) {
  std::vector<std::string> parts;
  const auto seconds = [](std::uint64_t ms) { return fmt::format("{} s", static_cast<double>(ms) / 1000); };
  if (window.min_age_ms) parts.push_back(fmt::format("at least {} old", seconds(*window.min_age_ms)));
  if (window.max_age_ms) parts.push_back(fmt::format("at most {} old", seconds(*window.max_age_ms)));
  if (window.generation) parts.push_back(fmt::format("of generation {}", *window.generation));
  return fmt::format("{}", fmt::join(parts, " and "));
}

std::string moment_text(const Snapshot& snapshot) {
  if (snapshot.is_at_peak) return "the state at the reading with the most live bytes";
  return snapshot.narrowing ? fmt::format("only live blocks {}", age_window_text(snapshot.narrowing->window)) : "";
}

void put_age_note(TextPage& page, const Snapshot& snapshot) {
  if (snapshot.is_at_peak) {
    page.put(moment_text(snapshot), Style::kStrong);
    page.end_section();
  }
  if (!snapshot.narrowing) return;
  const Counters& whole = snapshot.narrowing->whole;
  const std::uint32_t bits = snapshot.ages->age_bits;
  const std::string coarse =
      bits == LiveAges::kExactAges ? "" : fmt::format(" or 1/{} of the age", std::uint64_t{1} << (bits - 1));
  page.put_wrapped(fmt::format("{}, to {} s{}: {} in {} of live {} in {} ({})", moment_text(snapshot),
                               static_cast<double>(snapshot.trace.interval_ns) / 1e9, coarse,
                               page.bytes(snapshot.totals.live_bytes()), page.blocks(snapshot.totals.live_count()),
                               page.bytes(whole.live_bytes()), page.blocks(whole.live_count()),
                               format_share(snapshot.totals.live_bytes(), whole.live_bytes())),
                   2, Style::kStrong);
  page.end_section();
}

}  // namespace hawk
