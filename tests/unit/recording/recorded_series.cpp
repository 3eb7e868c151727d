#include "tests/unit/recording/recorded_series.h"

#include <algorithm>
#include <string>
#include <utility>

namespace hawk {

RecordedSeries::RecordedSeries(std::size_t stacks, std::size_t depth) {
  snapshot_.target() = {
      .pid = 4711,
      .comm = "service",
      .exe = "/usr/bin/service",
      .allocators = {
          {"/lib/libc.so.6",
           "aabbcc",
           {{.name = "free", .aliases = {"cfree"}, .file_offset = 1, .probe_offset = 2, .instruction = "push"}}}}};
  snapshot_.trace = {.attach_via = "session",
                     .live_table = "arena",
                     .unwind = "auto",
                     .start_unix_ns = 1'700'000'000'000'000'000,
                     .interval_ns = 1'000'000'000,
                     .kernel = "6.12.0",
                     .limits = {},
                     .verified = {}};
  snapshot_.modules = {{"/usr/bin/service", "0102"}, {"/lib/libc.so.6", "aabbcc"}};
  mappings_ = {{ModuleId{0}, 0x400000, 0x500000, 0}, {ModuleId{1}, 0x7f0000000000, 0x7f0000200000, 0x1000}};
  fill(stacks, depth);
}

std::uint32_t RecordedSeries::random() { return seed_ = seed_ * 1664525 + 1013904223; }

void RecordedSeries::fill(std::size_t stacks, std::size_t depth) {
  for (std::size_t i = 0; i < stacks; ++i) {
    std::vector<LocationId> frames;
    for (std::size_t frame = 0; frame < depth; ++frame) {
      // The outermost frames are those of all, the innermost hardly any other stack's.
      const std::uint64_t group = frame < 3 ? i : i >> (2 * frame);
      const std::uint64_t offset = 0x1000 + 16 * (group * depth + frame);
      frames.push_back(locations_.number_of({0x400000 + offset, ModuleId{frame == 0 ? 1u : 0u}, offset, i % 97 == 5}));
    }
    StackRecord stack = {.id = StackId{static_cast<std::uint32_t>(2 * i + 2)}, .counters = {}, .frames = {}};
    stack.guessed = i % 11 == 3;
    stack.end = i % 13 == 4 ? HAWK_END_DEPTH : HAWK_END_OUTERMOST;
    stack.frames = StackFrames(std::move(frames));
    snapshot_.stacks.push_back(std::move(stack));
    change(snapshot_.stacks.back());
  }
  snapshot_.locations = locations_.locations();
}

void RecordedSeries::change(StackRecord& stack) {
  const std::uint64_t count = 1 + random() % 200;
  const std::uint64_t freed = std::min(count, stack.counters.live_count());
  const std::uint64_t size = 16 + random() % 500;
  const Counters change = {count * size, count, std::min(freed * size, stack.counters.live_bytes()), freed};
  stack.counters += change;
  snapshot_.totals += change;
  snapshot_.peak_live_bytes = std::max(snapshot_.peak_live_bytes, snapshot_.totals.live_bytes());
}

void RecordedSeries::advance(std::size_t active) {
  snapshot_.trace.duration_ns += 1'000'000'000;
  snapshot_.frees_of_untraced += random() % 3;
  snapshot_.memory = ProcessMemory{random(), random() / 2, 0, snapshot_.totals.live_bytes()};
  const std::uint64_t second = snapshot_.trace.duration_ns / 1'000'000'000;
  snapshot_.usage = TracingUsage{second * 3'000'000, 50 << 20, second << 12, {}};
  if (second % 4 != 3) snapshot_.usage->target_cpu_ns = second * 700'000'000;
  SharedTable<ThreadEvent>& threads = snapshot_.target().threads;
  const int tid = 4711 + static_cast<int>(second / 8);
  if (second % 8 == 2) threads.push_back({snapshot_.trace.duration_ns, tid, "worker"});
  if (second % 8 == 4) threads.push_back({snapshot_.trace.duration_ns, tid, "worker\n\xff"});
  if (second % 8 == 7) threads.push_back({snapshot_.trace.duration_ns, tid, std::nullopt});
  if (second % 6 == 3) snapshot_.target().cgroup = second % 12 == 3 ? "/system.slice/shop.service" : "/moved";
  snapshot_.trace.dump_cause = static_cast<DumpCause>(second % 8 < kDumpCauses ? second % 8 : 0);
  ProbedFunction& probed = snapshot_.target().allocators[0].functions[0];
  if (second % 7 == 3 && probed.points.size() < 3)
    probed.points.push_back({.shows = PointShows::kResult, .file_offset = second, .conditional = true});
  if (second % 70 == 4 && !probed.points.empty()) probed.points.back().cost_ns = second;
  if (second % 70 == 5) probed.points_fallback = "not followed";
  for (std::size_t i = 0; i < probed.points.size(); ++i) {
    if ((second + i) % 3 == 0 && second < 300) probed.points[i].calls = second * 1000 + i;
  }
  for (std::size_t i = 0; i < active && !snapshot_.stacks.empty(); ++i) {
    next_active_ += 1 + random() % 19;
    change(snapshot_.stacks[next_active_ % snapshot_.stacks.size()]);
  }
}

void RecordedSeries::add_stack(std::uint32_t id) {
  StackRecord stack = {.id = StackId{id}, .counters = {}, .frames = {}};
  stack.frames = StackFrames({locations_.number_of({0x9000 + id, std::nullopt, 0}), LocationId{0}});
  change(stack);
  snapshot_.locations = locations_.locations();
  const auto place = std::lower_bound(snapshot_.stacks.begin(), snapshot_.stacks.end(), stack,
                                      [](const StackRecord& a, const StackRecord& b) { return a.id < b.id; });
  snapshot_.stacks.insert(place, std::move(stack));
}

void RecordedSeries::replace_program() {
  locations_.clear();
  snapshot_.stacks.clear();
  snapshot_.totals = {};
  snapshot_.target().comm = "other";
  ++snapshot_.trace.exec_count;
  snapshot_.modules.push_back({"/usr/bin/other", ""});
  mappings_ = {{ModuleId{2}, 0x400000, 0x500000, 0}};
  fill(7, 4);
}

}  // namespace hawk
