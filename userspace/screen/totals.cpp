#include "userspace/screen/totals.h"

#include <fmt/core.h>

#include <string_view>

#include "userspace/report/display_text.h"
#include "userspace/report/mapping_text.h"
#include "userspace/report/unwind_text.h"
#include "userspace/report/verdict.h"

namespace hawk {
namespace {

std::uint64_t grown(std::uint64_t before, std::uint64_t after) { return after > before ? after - before : 0; }

ScreenLine totals_line(const Moment& moment, Quantity quantity, std::string_view more) {
  const Counters& totals = moment.now.totals;
  StyledLine line;
  line.add(align_left(quantity_name(quantity), 9), Style::kDim).add("  ");
  line.add(align_right(moment.bytes(bytes_of(totals, quantity)), 11),
           quantity == Quantity::kLive ? Style::kStrong : Style::kPlain);
  line.add(" in " + moment.blocks(blocks_of(totals, quantity)));
  if (moment.previous != nullptr) line.add(rates_text(moment, moment.previous->totals, totals, quantity));
  line.add(more, Style::kDim);
  return {line};
}

}  // namespace

std::string rates_text(const Moment& moment, const Counters& before, const Counters& now, Quantity quantity) {
  if (moment.elapsed_ns == 0) return {};
  const std::uint64_t bytes_before = bytes_of(before, quantity);
  const std::uint64_t bytes_now = bytes_of(now, quantity);
  if (quantity == Quantity::kLive) {
    const bool shrunk = bytes_now < bytes_before;
    const std::uint64_t moved =
        per_second(shrunk ? bytes_before - bytes_now : bytes_now - bytes_before, moment.elapsed_ns);
    return fmt::format(
        "  {}/s", shrunk ? format_bytes_change(moved, 0, moment.style) : format_bytes_change(0, moved, moment.style));
  }
  const std::uint64_t blocks = grown(blocks_of(before, quantity), blocks_of(now, quantity));
  return fmt::format("  {}/s in {}/s", moment.bytes(per_second(grown(bytes_before, bytes_now), moment.elapsed_ns)),
                     moment.blocks(per_second(blocks, moment.elapsed_ns)));
}

StyledLine header_line(const Moment& moment, Quantity quantity, std::uint64_t interval_ns, bool paused,
                       std::size_t columns) {
  const Snapshot& now = moment.now;
  StyledLine line;
  if (now.parts.empty()) {
    line.add(now.target().comm.empty() ? std::string_view("(unnamed)") : std::string_view(now.target().comm),
             Style::kStrong);
    line.add(fmt::format(" (pid {})", now.target().pid));
  } else {
    line.add(fmt::format("{} processes", moment.count(now.parts.size())), Style::kStrong);
  }
  line.add(fmt::format("  {}  ", format_duration(now.trace.duration_ns)));
  const Verdict worth = verdict(now, moment.style);
  line.add(worth.text, worth.style);
  const std::string state = std::string(paused ? "  PAUSED" : "") +
                            (now.trace.target_exited ? (now.parts.empty() ? "  target ended" : "  all ended") : "");
  const auto add_if_it_fits = [&](const std::string& text, std::size_t kept = 0) {
    if (line.width() + text.size() + kept <= columns) line.add(text, Style::kDim);
  };
  const std::string shares = UnwindText(now, quantity).short_summary();
  const std::string incomplete = shares.empty() ? "" : fmt::format(" ({})", shares);
  // Next to the word that they explain, which is missing if the numbers are not exact.
  const bool is_of_stacks = now.numbers_exact();
  if (is_of_stacks) add_if_it_fits(incomplete, state.size());
  line.add(state, Style::kStrong);
  add_if_it_fits(fmt::format("  {} {}", moment.count(now.stacks.size()), now.stacks.size() == 1 ? "stack" : "stacks"));
  if (!is_of_stacks) add_if_it_fits(incomplete);
  if (interval_ns != 0) add_if_it_fits("  every " + format_duration(interval_ns));
  return line;
}

ScreenLines totals_lines(const Moment& moment) {
  const Snapshot& now = moment.now;
  ScreenLines lines = {
      totals_line(moment, Quantity::kLive, fmt::format("  peak at least {}", moment.bytes(now.peak_live_bytes))),
      totals_line(moment, Quantity::kAllocated, ""),
      totals_line(moment, Quantity::kFreed,
                  fmt::format("  and {} {} ones", moment.count(now.frees_of_untraced),
                              now.trace.min_block_bytes == 0 ? "older" : "other"))};
  const std::string mapped = mappings_summary(now, moment.style);
  if (!mapped.empty()) lines.push_back({StyledLine{}.add(align_left("mapped", 9), Style::kDim).add("  ").add(mapped)});
  return lines;
}

}  // namespace hawk
