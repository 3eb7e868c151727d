#include "userspace/attach/region_watch.h"

#include <algorithm>
#include <vector>

#include "userspace/attach/region_kinds.h"
#include "userspace/process/mappings.h"

namespace hawk {
namespace {

/// Nothing of a process that has ended.
std::vector<KnownRegion> read_regions(int pid) {
  std::vector<KnownRegion> regions;
  const Result<std::vector<Mapping>> mappings = read_mappings(pid);
  if (!mappings) return regions;
  for (const Mapping& mapping : *mappings) {
    // Which the kernel shows every process, and which is none of its mappings.
    if (mapping.path == "[vsyscall]") continue;
    regions.push_back({{mapping.start, mapping.end}, region_kind_of(mapping)});
  }
  return regions;
}

/// Nobody has seen how long they are.
void note_segments(const std::vector<KnownRegion>& known, Tracer& tracer) {
  const bool has_segment = std::any_of(known.begin(), known.end(),
                                       [](const KnownRegion& region) { return region.kind == RegionKind::kShm; });
  if (has_segment) tracer.note_unknown_segments();
}

}  // namespace

void RegionWatch::begin(int pid, Tracer& tracer) {
  const std::vector<KnownRegion> older = read_regions(pid);
  note_segments(older, tracer);
  feed_.begin(tracer.memory(), tracer.program(), older);
}

void RegionWatch::update(int pid, Tracer& tracer, std::uint64_t lost, HeapModel& model, const FrameResolver& resolve) {
  const std::uint32_t program = tracer.program();
  if (lost != 0) feed_.note_lost(tracer.memory(), program, lost);
  if (feed_.is_unsettled(program)) {
    const std::vector<KnownRegion> known = read_regions(pid);
    if (!known.empty()) feed_.settle(program, known);
    note_segments(known, tracer);
  }
  std::vector<MappedGroup> mapped;
  std::vector<StackId> unknown;
  for (const auto& [owner, counters] : feed_.owners(program)) {
    const StackId stack{owner.stack};
    const bool is_new = unknown.empty() || unknown.back() != stack;
    if (stack != kNoStack && is_new && !model.knows(stack)) unknown.push_back(stack);
    mapped.push_back({stack, owner.kind, owner.origin, counters});
  }
  model.take_mappings(std::move(mapped), engine_.read_stacks(unknown), resolve);
}

}  // namespace hawk
