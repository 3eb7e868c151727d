// Writes samples in every format, for readers_test.py: export_samples DIRECTORY.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <string>
#include <utility>

#include "tests/unit/export/export_sample.h"
#include "userspace/analysis/diff_flame_graph.h"
#include "userspace/export/exchange_formats.h"
#include "userspace/export/format.h"
#include "userspace/export/json_report.h"

namespace hawk {
namespace {

struct NamedSample {
  const char* name;
  Sample (*make)();
};

constexpr NamedSample kSamples[] = {
    {"export", export_sample},
    {"service", service_sample},
    {"later_service", later_service_sample},
    {"unsymbolized", unsymbolized_sample},
    {"lossy", lossy_sample},
    {"deep", deep_sample},
    {"hostile", hostile_sample},
    {"unwinding", unwinding_sample},
    {"empty", empty_sample},
    {"several", several_sample},
};

bool write_file(const std::string& path, const NamedSample& named, const Format& format, SortKey sort) {
  Sample sample = named.make();
  std::ofstream file(path, std::ios::binary);
  const ReportRequest request = {.snapshot = sample.snapshot,
                                 .symbolizer = sample.symbolizer,
                                 .selection = {.sort = sort, .top = 0},
                                 .role_of = sample_role_of};
  format.write(request, [&](std::string_view piece) { return static_cast<bool>(file << piece); });
  return static_cast<bool>(file.flush());
}

/// The service, and what it is later: some stacks have grown, one has come, and one holds less.
bool write_difference(const std::string& directory) {
  Sample before = service_sample();
  Sample after = later_service_sample();
  Counters& shrunk = after.stack(3).counters;
  const std::uint64_t given_back = shrunk.live_bytes() / 2;
  for (Counters* counters : {&shrunk, &after.snapshot.totals}) {
    counters->freed_bytes += given_back;
    counters->freed_count += 1;
  }
  const auto request_of = [](Sample& sample) {
    return ReportRequest{.snapshot = sample.snapshot, .symbolizer = sample.symbolizer, .selection = {.top = 0}};
  };
  const ExportedStacks stacks_before(request_of(before), ExportedStacks::Names::kShort);
  const ExportedStacks stacks_after(request_of(after), ExportedStacks::Names::kShort);
  const auto into = [](std::ofstream& file) {
    return [&file](std::string_view piece) { return static_cast<bool>(file << piece); };
  };
  std::ofstream page(directory + "/difference.html", std::ios::binary);
  write_flame_graph_page(diff_flame_graph(stacks_before, stacks_after, SortKey::kLive), into(page));
  std::ofstream json(directory + "/later.json", std::ios::binary);
  write_json_report(request_of(after), into(json));
  return page.flush() && json.flush();
}

/// The service as in a recording: it held most in the middle.
bool write_series(const std::string& directory) {
  Sample last = service_sample();
  Sample peak = later_service_sample();
  HeapSeries series = {.points = {{1'000'000'000, 4096},
                                  {8'000'000'000, peak.snapshot.totals.live_bytes()},
                                  {last.snapshot.trace.duration_ns, last.snapshot.totals.live_bytes()}},
                       .peak = 1,
                       .at_peak = &peak.snapshot};
  const ReportRequest request = {
      .snapshot = last.snapshot, .symbolizer = last.symbolizer, .series = &series, .selection = {.top = 0}};
  std::ofstream file(directory + "/series.massif", std::ios::binary);
  write_massif(request, [&](std::string_view piece) { return static_cast<bool>(file << piece); });
  return static_cast<bool>(file.flush());
}

std::uint64_t bytes_of_blocks(std::uint64_t bytes, std::uint64_t count, std::uint64_t of_count) {
  return of_count == 0 ? 0 : bytes / of_count * count + (count == of_count ? bytes % of_count : 0);
}

/// The later service when it had made `part` of `parts` of its blocks, which it frees in the second half.
Snapshot earlier_state(const Snapshot& last, std::uint64_t part, std::uint64_t parts) {
  Snapshot state = last;
  state.trace.duration_ns = last.trace.duration_ns * part / parts;
  state.totals = {};
  for (StackRecord& stack : state.stacks) {
    const Counters end = stack.counters;
    const std::uint64_t allocated = end.allocated_count * part / parts;
    const std::uint64_t freed = 2 * part > parts ? std::min(end.freed_count, allocated) : 0;
    stack.counters = {bytes_of_blocks(end.allocated_bytes, allocated, end.allocated_count), allocated,
                      bytes_of_blocks(end.freed_bytes, freed, end.freed_count), freed};
    state.totals += stack.counters;
  }
  return state;
}

/// heaptrack's file of a recording, and the live bytes of each of its points, as "time bytes" in milliseconds.
bool write_heaptrack_series(const std::string& directory) {
  constexpr std::uint64_t kParts = 6;
  Sample last = later_service_sample();
  HeapSeries series;
  std::ofstream points(directory + "/heaptrack_series.txt");
  for (std::uint64_t part = 1; part <= kParts; ++part) {
    const Snapshot state = part == kParts ? last.snapshot : earlier_state(last.snapshot, part, kParts);
    points << state.trace.duration_ns / 1'000'000 << ' ' << state.totals.live_bytes() << '\n';
  }
  series.replay = [&](const std::function<bool(const Snapshot&)>& take) {
    Snapshot other = earlier_state(last.snapshot, 1, 1);
    other.trace.exec_count = 7;  // of a program before this one
    if (!take(other)) return;
    for (std::uint64_t part = 1; part < kParts && take(earlier_state(last.snapshot, part, kParts)); ++part) {
    }
  };
  const ReportRequest request = {
      .snapshot = last.snapshot, .symbolizer = last.symbolizer, .series = &series, .selection = {.top = 0}};
  std::ofstream file(directory + "/series.heaptrack", std::ios::binary);
  write_heaptrack(request, [&](std::string_view piece) { return static_cast<bool>(file << piece); });
  return points.flush() && file.flush();
}

/// Several processes, whose stacks begin with them.
bool write_processes(const std::string& directory) {
  for (const Format& format : formats()) {
    if (format.groups == Format::Groups::kNone) continue;
    Sample sample = several_sample();
    std::ofstream file(directory + "/processes." + format.name, std::ios::binary);
    const ReportRequest request = {.snapshot = sample.snapshot,
                                   .symbolizer = sample.symbolizer,
                                   .selection = {.top = 0},
                                   .grouping = {.by = GroupKind::kProcess},
                                   .role_of = sample_role_of};
    format.write(request, [&](std::string_view piece) { return static_cast<bool>(file << piece); });
    if (!file.flush()) return false;
  }
  return true;
}

bool write_all(const std::string& directory) {
  if (!write_processes(directory)) return false;
  if (!write_difference(directory) || !write_series(directory) || !write_heaptrack_series(directory)) return false;
  for (const NamedSample& sample : kSamples) {
    for (const Format& format : formats()) {
      const std::string path = directory + "/" + sample.name + "." + format.name;
      if (!write_file(path, sample, format, SortKey::kLive)) return false;
      for (const SortKey sort :
           {SortKey::kLiveCount, SortKey::kAllocated, SortKey::kAllocatedCount, SortKey::kFreedCount}) {
        if (std::string_view(format.name) != "folded") continue;
        if (!write_file(path + "." + std::string(sort_key_name(sort)), sample, format, sort)) return false;
      }
    }
  }
  return true;
}

}  // namespace
}  // namespace hawk

int main(int argc, char** argv) {
  if (argc == 2 && hawk::write_all(argv[1])) return 0;
  std::fprintf(stderr, "export_samples: could not write to the directory\n");
  return 1;
}
