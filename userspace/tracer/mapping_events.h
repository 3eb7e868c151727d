#pragma once

#include <cstdint>
#include <memory>

#include "userspace/base/result.h"
#include "userspace/tracer/mapping_router.h"

struct ring_buffer;

namespace hawk {

/// The announcements of new executable mappings of traced processes by our programs (bpf/mapping_events.bpf.h): one
/// feed for all of them. They arrive while a process goes on, so that a file can be opened before it is unmapped or the
/// process ends. Of other processes nothing arrives.
class MappingEvents {
 public:
  /// Where they come from; belongs to the programs, which must live longer.
  struct Source {
    int ring_fd = -1;                     ///< the map mapping_events
    const std::uint32_t* lost = nullptr;  ///< counts those for which that had no room
    bool has_births = false;              ///< targets come into being by themselves: see MappingRouter
  };
  static Result<MappingEvents> make(const Source& source);

  /// Readable when there is something to read, of any target.
  int poll_fd() const;
  /// Keeps what is announced of the target from now on: see Tracer::first_program.
  void follow(std::uint32_t target) { router_->follow(target); }
  void forget(std::uint32_t target) { router_->forget(target); }
  /// Takes what has come, of all targets, for them.
  void read();
  /// Whether something of the target has been read that it has not taken.
  bool has_changes(std::uint32_t target) const { return router_->has_changes(target); }
  /// What has been announced of the target since the last call, until now. What comes with it of others is kept for
  /// them.
  MappingChanges take(std::uint32_t target);

 private:
  MappingEvents() = default;

  struct FreeRing {
    void operator()(ring_buffer* ring) const;
  };

  std::unique_ptr<ring_buffer, FreeRing> ring_;
  std::unique_ptr<MappingRouter> router_;  ///< what the ring's callback fills
  const std::uint32_t* lost_ = nullptr;
  std::uint32_t lost_seen_ = 0;
};

}  // namespace hawk
