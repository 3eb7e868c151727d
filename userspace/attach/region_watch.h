#pragma once

#include <cstdint>

#include "userspace/tables/heap_model.h"
#include "userspace/tracer/engine.h"
#include "userspace/tracer/region_feed.h"
#include "userspace/tracer/tracer.h"

namespace hawk {

/// The regions of one process (RegionFeed), from the beginning of its trace to the last drain.
class RegionWatch {
 public:
  /// Both must live longer.
  RegionWatch(Engine& engine, RegionFeed& feed) : engine_(engine), feed_(feed) {}

  /// Of a process that runs already, before its changes are announced.
  void begin(int pid, Tracer& tracer);
  /// Passes what is mapped now on to the model. `lost`: how often changes of the process could not be announced so far.
  void update(int pid, Tracer& tracer, std::uint64_t lost, HeapModel& model, const FrameResolver& resolve);
  /// Whether the numbers of a process that has ended may be wrong.
  bool may_be_wrong(std::uint32_t program) { return feed_.is_unsettled(program); }
  /// Changes are no longer announced, and the last ones have been passed on.
  void end(std::uint32_t program) { feed_.forget(program); }

 private:
  Engine& engine_;
  RegionFeed& feed_;
};

}  // namespace hawk
