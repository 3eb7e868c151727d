#include "userspace/report/mapping_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "userspace/report/call_table.h"
#include "userspace/report/display_text.h"
#include "userspace/report/frame_list.h"
#include "userspace/report/number_columns.h"

namespace hawk {
namespace {

constexpr std::size_t kIndent = 6;

std::string format_regions(std::uint64_t count, NumberStyle style) {
  return fmt::format("{} {}", format_count(count, style), count == 1 ? "region" : "regions");
}

std::string_view kind_text(RegionKind kind) {
  switch (kind) {
    case RegionKind::kBrk:
      return "brk: below the program break";
    case RegionKind::kStack:
      return "stack: of the process and of threads";
    case RegionKind::kFile:
      return "file";
    case RegionKind::kShared:
      return "shared: memory without a file";
    case RegionKind::kShm:
      return "shm: System V segments";
    case RegionKind::kKernel:
      return "kernel: vdso, vvar";
    case RegionKind::kAnonymous:
      break;
  }
  return "anonymous: private memory";
}

/// A row for each kind that there is any of, and one for all.
void put_kinds(TextPage& page, const MappingSums& sums) {
  std::vector<RegionKind> kinds;
  for (std::size_t i = 0; i < kRegionKinds; ++i) {
    if (sums.of(static_cast<RegionKind>(i)).mapped_bytes != 0) kinds.push_back(static_cast<RegionKind>(i));
  }
  NumberColumns columns(kinds.size() + 1);
  const auto all = [&](std::size_t row) { return row < kinds.size() ? sums.of(kinds[row]) : sums.all(); };
  const auto by = [&](std::size_t row, RegionOrigin origin) {
    return page.bytes((row < kinds.size() ? sums.of(kinds[row], origin) : sums.of(origin)).live_bytes());
  };
  columns.add({.title = "MAPPED", .keep = 9}, [&](std::size_t row) { return page.bytes(all(row).live_bytes()); });
  columns.add({.title = "REGIONS", .keep = 5}, [&](std::size_t row) { return page.count(all(row).regions); });
  columns.add({.title = "BY PROGRAM", .keep = 8}, [&](std::size_t row) { return by(row, RegionOrigin::kProgram); });
  columns.add({.title = "BY ALLOCATOR", .keep = 7}, [&](std::size_t row) { return by(row, RegionOrigin::kAllocator); });
  columns.add({.title = "OLDER", .keep = 6}, [&](std::size_t row) { return by(row, RegionOrigin::kOlder); });
  constexpr std::size_t kWidestKind = 36;
  if (page.options().width != 0) columns.drop(page.options().width, kWidestKind);
  StyledLine titles;
  columns.add_titles(titles);
  page.put(titles.add("KIND", Style::kDim));
  for (std::size_t row = 0; row < kinds.size(); ++row) {
    StyledLine line;
    columns.add_cells(line, row);
    page.put(line.add(kind_text(kinds[row])));
  }
  StyledLine total;
  columns.add_cells(total, kinds.size());
  page.put(total.add("all", Style::kStrong));
}

/// What is still mapped of a stack that is known, the most first.
std::vector<const MappedStack*> largest(const std::vector<MappedStack>& mappings) {
  std::vector<const MappedStack*> live;
  for (const MappedStack& mapped : mappings) {
    if (mapped.origin != RegionOrigin::kOlder && mapped.counters.live_bytes() != 0) live.push_back(&mapped);
  }
  std::stable_sort(live.begin(), live.end(), [](const MappedStack* a, const MappedStack* b) {
    return a->counters.live_bytes() > b->counters.live_bytes();
  });
  return live;
}

StyledLine call_line(const ListedFrame& call, std::size_t times, std::size_t width) {
  StyledLine line;
  line.add(std::string(kIndent, ' '));
  const std::string position = source_position(call.source, 2);
  const std::string mark = times > 1 ? fmt::format(" ×{}", times) : "";
  const std::size_t beside = kIndent + display_width(mark) + (position.empty() ? 0 : 2 + display_width(position));
  constexpr std::size_t kLeast = 24;
  const std::size_t room = width == 0 ? kMaxNameColumns : std::max(width - std::min(width, beside), kLeast);
  line.add(shorten_middle(call.name, room)).add(mark);
  return position.empty() ? line : line.add("  ").add(position, Style::kDim);
}

void put_stack(TextPage& page, const MappedStack& mapped, const CallTable& calls, std::size_t rank) {
  const RegionCounters& counters = mapped.counters;
  StyledLine line;
  line.add(align_left('#' + format_count(rank, NumberStyle::kRaw), 4), Style::kStrong);
  line.add(fmt::format("  {} in {}", page.bytes(counters.live_bytes()), format_regions(counters.regions, page.style())),
           Style::kStrong);
  line.add(fmt::format(", {}, {}", region_kind_name(mapped.kind), region_origin_text(mapped.origin)));
  page.put(line);
  page.put_wrapped(fmt::format("      mapped {} in {} {}", page.bytes(counters.mapped_bytes),
                               page.count(counters.mapped_count), counters.mapped_count == 1 ? "call" : "calls"),
                   kIndent, Style::kDim);
  const FrameList frames = calls.list(mapped.stack);
  if (frames.empty()) page.put(std::string(kIndent, ' ') + no_frames_text(mapped.stack.id));
  const bool is_full = page.options().full_stacks;
  for (const ShownFrame& shown : is_full ? unfolded_frames(frames) : fold_frames(frames, page.options().max_frames)) {
    if (shown.frame != nullptr) {
      page.put(call_line(*shown.frame, shown.times, page.options().width));
    } else {
      page.put(std::string(kIndent, ' ') + left_out_text(shown), Style::kDim);
    }
  }
  page.put("");
}

}  // namespace

std::string_view region_origin_text(RegionOrigin origin) {
  switch (origin) {
    case RegionOrigin::kAllocator:
      return "mapped by the allocator";
    case RegionOrigin::kOlder:
      return "older than the trace";
    case RegionOrigin::kProgram:
      break;
  }
  return "mapped by the program";
}

void put_mappings(TextPage& page, const Snapshot& snapshot, Symbolizer& symbolizer) {
  if (!snapshot.mappings) return;
  page.put("mappings", Style::kStrong);
  put_kinds(page, mapping_sums(*snapshot.mappings));
  page.put_wrapped(
      "the blocks above lie in what the allocator has mapped, and in older mappings; what the program has mapped is "
      "held "
      "beside them",
      2, Style::kDim);
  page.end_section();
  std::vector<const MappedStack*> live = largest(*snapshot.mappings);
  const std::size_t count = live.size();
  const std::size_t top = page.options().selection.top;
  if (top != 0 && top < live.size()) live.resize(top);
  if (live.empty()) return;
  page.put_wrapped(fmt::format("top {} of {} by mapped bytes", live.size(), format_stacks(count, page.style())), 2,
                   Style::kStrong);
  std::vector<const StackRecord*> stacks;
  stacks.reserve(live.size());
  for (const MappedStack* mapped : live) stacks.push_back(&mapped->stack);
  const CallTable calls(snapshot, stacks, symbolizer, page.options().role_of, page.options().before_symbolizing);
  for (std::size_t i = 0; i < live.size() && page.go_on(); ++i) put_stack(page, *live[i], calls, i + 1);
}

std::string mappings_summary(const Snapshot& snapshot, NumberStyle style) {
  if (!snapshot.mappings) return {};
  const MappingSums sums = mapping_sums(*snapshot.mappings);
  const RegionCounters own = sums.of(RegionOrigin::kProgram);
  return fmt::format("{} in {} by the program, {} by the allocator, {} older", format_bytes(own.live_bytes(), style),
                     format_regions(own.regions, style),
                     format_bytes(sums.of(RegionOrigin::kAllocator).live_bytes(), style),
                     format_bytes(sums.of(RegionOrigin::kOlder).live_bytes(), style));
}

}  // namespace hawk
