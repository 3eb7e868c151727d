#include "userspace/report/report_header.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "userspace/report/display_text.h"
#include "userspace/report/period.h"
#include "userspace/report/target_lines.h"
#include "userspace/report/trap_costs.h"
#include "userspace/report/verdict.h"
#include "userspace/tables/attach_text.h"

namespace hawk {
namespace {

const char* dump_cause_text(DumpCause cause) {
  switch (cause) {
    case DumpCause::kSignal:
      return "reported because of SIGUSR1";
    case DumpCause::kAllocated:
      return "reported because of the bytes allocated since the previous report (--dump-allocated)";
    case DumpCause::kGrowth:
      return "reported because live bytes have grown since the previous report (--dump-growth)";
    case DumpCause::kPeak:
      return "reported because of a new peak of live bytes (--dump-peak)";
    case DumpCause::kNone:
    case DumpCause::kTime:
      break;
  }
  return "";
}

void put_trace_notes(TextPage& page, const Snapshot& snapshot) {
  const TraceInfo& trace = snapshot.trace;
  if (trace.verified) {
    if (*trace.verified) {
      page.put_wrapped("verified: counters and live table agree on every stack", 2, Style::kGood);
    } else {
      page.put_wrapped("VERIFICATION FAILED: the live table disagrees with the counters of a stack", 2, Style::kBad);
    }
  }
  if (trace.min_block_bytes != 0) {
    page.put_wrapped(fmt::format("only blocks of {} or more were followed", page.bytes(trace.min_block_bytes)), 2);
  }
  const bool is_one = snapshot.parts.empty();
  if (is_one && trace.exec_count != 0) {
    page.put_wrapped(fmt::format("the target replaced its program {} (exec): the numbers cover only the last program",
                                 trace.exec_count == 1 ? "once" : page.count(trace.exec_count) + " times"),
                     2);
  }
  if (is_one && snapshot.target().is_go && !snapshot.target().allocators.empty()) {
    page.put_wrapped("a Go program: these are the blocks of its C code; net/http/pprof shows Go's own heap", 2);
  }
  if (const char* cause = dump_cause_text(trace.dump_cause); *cause != '\0') page.put_wrapped(cause, 2);
  if (is_one && trace.target_exited)
    page.put_wrapped("the target ended during the trace: live is what it held when it ended", 2);
}

/// Whether a process that was traced from its start holds so much beside the heap that its stacks do not explain it.
bool is_mostly_mapped(std::uint64_t own_bytes, std::uint64_t live_bytes) {
  constexpr std::uint64_t kMin = std::uint64_t{32} << 20;
  return own_bytes >= kMin && live_bytes < own_bytes / 4;
}

/// How much of what the kernel sees of the process the live bytes are.
void put_coverage(TextPage& page, const Snapshot& snapshot) {
  if (!snapshot.memory) return;
  const ProcessMemory& memory = *snapshot.memory;
  const std::uint64_t own = memory.anonymous_bytes + memory.swapped_bytes;
  std::string text = fmt::format("process{}: {} resident, {} of it anonymous", snapshot.parts.empty() ? "" : "es",
                                 page.bytes(memory.resident_bytes), page.bytes(memory.anonymous_bytes));
  if (memory.swapped_bytes != 0) text += fmt::format(", {} swapped", page.bytes(memory.swapped_bytes));
  text += fmt::format("; {} live at that time", page.bytes(memory.live_bytes));
  if (memory.live_bytes > own) {
    text += ", not all of which has been written to";
  } else {
    text += fmt::format(" ({}), the rest is {}mappings and stacks, or the allocator's own",
                        format_share(memory.live_bytes, own),
                        snapshot.trace.from_start ? "" : "memory from before the trace, ");
  }
  page.put_wrapped(text, 2, Style::kDim);
  if (snapshot.parts.empty() && snapshot.trace.from_start && is_mostly_mapped(own, memory.live_bytes)) {
    page.put_hint(
        "hint: most of the memory of this process is not from malloc; programs with a garbage collector or an "
        "allocator "
        "of their own map it themselves (mmap)",
        6);
  }
}

/// What happened since the report before.
void put_change(TextPage& page, const Snapshot& snapshot) {
  const Period period(snapshot, page.options().previous);
  if (period.previous == nullptr) return;
  const Counters& before = period.previous->totals;
  const Counters since = difference(snapshot.totals, &before);
  page.put_wrapped(
      fmt::format(
          "since the previous report, {} ago (rates cover this time): live {}, allocated {} in {}, freed {} in {}",
          format_duration(period.elapsed_ns),
          format_bytes_change(before.live_bytes(), snapshot.totals.live_bytes(), page.style()),
          page.bytes(since.allocated_bytes), page.blocks(since.allocated_count), page.bytes(since.freed_bytes),
          page.blocks(since.freed_count)),
      2);
}

}  // namespace

namespace {

/// The line of the only target.
void put_target(TextPage& page, const Snapshot& snapshot) {
  const TargetInfo& target = snapshot.target();
  StyledLine line;
  line.add(target.comm.empty() ? std::string_view("(unnamed)") : std::string_view(target.comm), Style::kStrong);
  line.add(fmt::format(" (pid {}), traced for {}: ", target.pid, format_duration(snapshot.trace.duration_ns)));
  const Verdict worth = verdict(snapshot, page.style());
  page.put(line.add(worth.text, worth.style));
  if (!target.exe.empty()) page.put(target.exe, Style::kDim);
}

/// A line of all targets, and those of each.
void put_targets(TextPage& page, const Snapshot& snapshot) {
  StyledLine line;
  line.add(fmt::format("{} processes", page.count(snapshot.parts.size())), Style::kStrong);
  line.add(fmt::format(", traced for {}: ", format_duration(snapshot.trace.duration_ns)));
  const Verdict worth = verdict(snapshot, page.style());
  line.add(worth.text, worth.style);
  const auto inexact = std::count_if(snapshot.parts.begin(), snapshot.parts.end(),
                                     [](const TargetPart& part) { return !part.numbers_exact(); });
  if (inexact != 0) {
    line.add(fmt::format(" ({} of {} processes)", page.count(static_cast<std::uint64_t>(inexact)),
                         page.count(snapshot.parts.size())));
  }
  page.put(line);
  put_target_lines(page, snapshot);
}

}  // namespace

void put_header(TextPage& page, const Snapshot& snapshot) {
  if (snapshot.parts.empty()) {
    put_target(page, snapshot);
  } else {
    put_targets(page, snapshot);
  }
  put_trace_notes(page, snapshot);
  put_change(page, snapshot);
  page.put("");
}

void put_nothing_allocated(TextPage& page, const Snapshot& snapshot) {
  page.put("no allocation was seen", Style::kStrong);
  if (snapshot.frees_of_untraced != 0) {
    page.put(fmt::format("{} allocated before the trace {} freed", page.blocks(snapshot.frees_of_untraced),
                         snapshot.frees_of_untraced == 1 ? "was" : "were"));
  }
  std::set<std::string> probed;
  for (const TargetInfo& target : snapshot.targets) {
    for (const Allocator& allocator : target.allocators) {
      std::string names;
      for (const ProbedFunction& function : allocator.functions) names += (names.empty() ? "" : ", ") + function.name;
      const std::string text = fmt::format("probed in {}: {}", allocator.path, names.empty() ? "nothing" : names);
      if (probed.insert(text).second) page.put_wrapped(text, 2);
    }
  }
  page.put_hint(
      "hint: the process may have been idle, so trace longer, or while it is busy; memory from mmap, or from an "
      "allocator of its own, does not pass through the probed functions (--mappings reports what is mapped)",
      6);
  page.put("");
}

void put_totals(TextPage& page, const Snapshot& snapshot, const UnwindText& unwind) {
  const Counters& totals = snapshot.totals;
  struct Row {
    std::string_view name;
    std::string bytes;
    std::string blocks;
    std::string_view note;
  };
  const std::string peak_note = fmt::format(
      "lower bound: highest sample (every {}){}", format_duration(snapshot.trace.interval_ns),
      snapshot.peak_live_bytes_most ? fmt::format("; at most {}", page.bytes(*snapshot.peak_live_bytes_most)) : "");
  const std::array<Row, 5> rows = {{
      {"live", page.bytes(totals.live_bytes()), page.count(totals.live_count()),
       "allocated since the trace began, not freed"},
      {"peak live", page.bytes(snapshot.peak_live_bytes), "", peak_note},
      {"allocated", page.bytes(totals.allocated_bytes), page.count(totals.allocated_count), ""},
      {"freed", page.bytes(totals.freed_bytes), page.count(totals.freed_count), ""},
      {"other frees", "", page.count(snapshot.frees_of_untraced),
       snapshot.trace.min_block_bytes == 0 ? "freed, allocated before the trace"
                                           : "freed, allocated before the trace or smaller than --min-block"},
  }};
  std::size_t bytes_columns = 5;
  std::size_t blocks_columns = 6;
  for (const Row& row : rows) {
    bytes_columns = std::max(bytes_columns, row.bytes.size());
    blocks_columns = std::max(blocks_columns, row.blocks.size());
  }
  const auto line = [&](const Row& row, Style style) {
    StyledLine styled;
    styled.add(align_left(row.name, 12), style).add("  ").add(align_right(row.bytes, bytes_columns), style).add("  ");
    styled.add(align_right(row.blocks, blocks_columns), style);
    const std::size_t width = page.options().width;
    const bool fits = width == 0 || styled.width() + 2 + display_width(row.note) <= width;
    if (!row.note.empty() && fits) styled.add("  ").add(row.note, Style::kDim);
    page.put(styled);
    if (!fits) page.put_wrapped(fmt::format("  {}", row.note), 2, Style::kDim);
  };
  line({"", "bytes", "blocks", ""}, Style::kDim);
  for (const Row& row : rows) line(row, row.name == "live" ? Style::kStrong : Style::kPlain);
  put_coverage(page, snapshot);
  const std::string costs = trap_costs_text(snapshot);
  if (!costs.empty()) page.put_wrapped(costs, 2, Style::kDim);
  const std::string points = trap_points_text(snapshot);
  if (!points.empty()) page.put_wrapped(points, 2, Style::kDim);
  if (snapshot.trace.attach_via.ends_with(kForFiles)) {
    page.put_wrapped(
        "probes: one set for all processes that map a file; untraced ones pay for traps too (--links process avoids "
        "that)",
        2, Style::kDim);
  }
  const std::string usage = usage_text(snapshot, page.style());
  if (!usage.empty()) page.put_wrapped(usage, 2, Style::kDim);
  page.put_wrapped(unwind.summary(), 2, unwind.all_complete() ? Style::kDim : Style::kPlain);
  page.put("");
}

}  // namespace hawk
