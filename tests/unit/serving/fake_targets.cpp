#include "tests/unit/serving/fake_targets.h"

#include <memory>
#include <utility>

namespace hawk {
namespace {

/// A heap that owns its names.
struct OwnedSample {
  explicit OwnedSample(Sample made) : sample(std::move(made)) {}
  Sample sample;
};

ServedHeap heap_of(Sample made) {
  const auto owned = std::make_shared<OwnedSample>(std::move(made));
  return {owned->sample.snapshot, std::shared_ptr<Symbolizer>(owned, &owned->sample.symbolizer)};
}

ServedTarget target_of(const char* name, const Snapshot& snapshot) {
  ServedTarget target = {.name = name, .mode = "exact", .state = "tracing"};
  for (const TargetInfo& info : snapshot.targets) {
    target.processes.push_back({.pid = info.pid, .comm = info.comm, .exe = info.exe, .state = "traced"});
  }
  target.processes.front().memory = ProcessMemory{64 << 20, 48 << 20, 4096, 0};
  target.totals = snapshot.totals;
  target.live_bytes = snapshot.totals.live_bytes();
  target.live_count = snapshot.totals.live_count();
  target.losses = snapshot.losses;
  target.processes_seen = target.processes.size();
  target.traces_begun = target.processes.size();
  target.calls = snapshot.totals.allocated_count + snapshot.totals.freed_count;
  target.overhead = 0.0125;
  target.cost_per_call_ns = 1300;
  target.cgroup = CgroupMemory{.current_bytes = 100 << 20, .max_bytes = 200 << 20, .oom_kills = 1};
  return target;
}

}  // namespace

Sample FakeTargets::shop() const {
  Sample sample = age_ == Age::kEarly ? service_sample() : later_service_sample();
  if (age_ == Age::kShrunk) {
    Counters& counters = sample.stack(3).counters;
    const std::uint64_t freed = counters.live_bytes() - 1;
    for (Counters* shrunk : {&counters, &sample.snapshot.totals}) {
      shrunk->freed_bytes += freed;
      shrunk->freed_count += 1;
    }
  }
  return sample;
}

std::vector<ServedTarget> FakeTargets::targets() const {
  ServedTarget hostile = {.name = kHostileName, .mode = "watch", .state = "watching"};
  hostile.processes.push_back({.pid = 66, .comm = "\x1b]0;x\a\n", .exe = "/tmp/\"\\\xff\n", .state = "watched"});
  return {target_of("shop", shop().snapshot), target_of("several", several_sample().snapshot), hostile};
}

ServedHost FakeTargets::host() const {
  return {.start_unix_ns = 1'700'000'000'500'000'000,
          .cpu_ns = 1'500'000'000,
          .resident_bytes = 30 << 20,
          .heap_bytes = 3 << 20,
          .table_bytes = 1 << 20,
          .drains = 12,
          .longest_drain_ns = 2'000'000,
          .reloads = 1,
          .config_path = "/etc/hawktrace/hawktrace.toml"};
}

Result<ServedHeap> FakeTargets::heap(const std::string& target) {
  ++heaps_;
  if (target == "shop") return heap_of(shop());
  if (target == "several") return heap_of(several_sample());
  if (target == kHostileName) return fail(ExitCode::kNoTarget, target + ": it is not traced now");
  return fail(ExitCode::kNoTarget, target + ": there is no such target");
}

}  // namespace hawk
