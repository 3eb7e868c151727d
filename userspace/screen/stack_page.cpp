#include "userspace/screen/stack_page.h"

#include <fmt/core.h>

#include <string>

#include "userspace/report/call_table.h"
#include "userspace/report/display_text.h"
#include "userspace/report/quantity.h"
#include "userspace/screen/totals.h"

namespace hawk {
namespace {

ScreenLine quantity_line(const Moment& moment, const StackRecord& stack, Quantity quantity) {
  const Counters nothing;
  const Counters* const before = moment.counters_before(stack.id);
  const std::uint64_t bytes = bytes_of(stack.counters, quantity);
  const std::uint64_t blocks = blocks_of(stack.counters, quantity);
  StyledLine line;
  line.add(align_left(quantity_name(quantity), 9), Style::kDim).add("  ");
  line.add(align_right(moment.bytes(bytes), 11), quantity == Quantity::kLive ? Style::kStrong : Style::kPlain);
  line.add(" in " + moment.blocks(blocks));
  if (blocks > 1) line.add(fmt::format(" of {} on average", moment.bytes(average_bytes(bytes, blocks))), Style::kDim);
  line.add(rates_text(moment, before == nullptr ? nothing : *before, stack.counters, quantity));
  return {line};
}

ScreenLine call_line(const ShownFrame& shown, const Snapshot& now, bool all_frames) {
  StyledLine line;
  if (shown.frame == nullptr) return {line.add("    ").add(left_out_text(shown), Style::kDim)};
  const std::string full_name = frame_name(shown.frame->location, shown.frame->source, now);
  const std::string& name = all_frames ? full_name : shown.frame->name;
  line.add("    ").add(name);
  if (shown.times > 1) line.add(fmt::format(" ×{}", shown.times));
  const std::string source = source_position(shown.frame->source, all_frames ? 0 : 2);
  const std::string module = module_position(shown.frame->location, now, all_frames);
  if (!source.empty()) line.add("  " + source, Style::kDim);
  if ((source.empty() || all_frames) && !module.empty() && module != name) line.add("  " + module, Style::kDim);
  if (shown.frame->source.inlined) line.add("  (inlined)", Style::kDim);
  return {line};
}

}  // namespace

ScreenLines stack_page(const Moment& moment, const StackRecord& stack, std::size_t rank, Symbolizer& symbolizer,
                       const RoleOfFunction& role_of, bool all_frames) {
  ScreenLines lines;
  lines.push_back({StyledLine{}.add(fmt::format("stack {} in the list", rank), Style::kStrong)});
  for (const Quantity quantity : {Quantity::kLive, Quantity::kAllocated, Quantity::kFreed}) {
    lines.push_back(quantity_line(moment, stack, quantity));
  }
  lines.push_back({});
  const CallTable calls(moment.now, {&stack}, symbolizer, role_of);
  const FrameList frames = calls.list(stack);
  if (frames.empty()) lines.push_back({StyledLine{}.add("    ").add(no_frames_text(stack.id))});
  for (const ShownFrame& shown : all_frames ? unfolded_frames(frames) : fold_frames(frames, 0)) {
    lines.push_back(call_line(shown, moment.now, all_frames));
  }
  return lines;
}

}  // namespace hawk
