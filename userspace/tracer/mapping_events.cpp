#include "userspace/tracer/mapping_events.h"

#include <bpf/libbpf.h>

#include <cerrno>

#include "userspace/base/system_failure.h"

namespace hawk {
namespace {

int take_record(void* router, void* record, std::size_t bytes) {
  if (bytes >= sizeof(hawk_mapping_event)) {
    static_cast<MappingRouter*>(router)->add(*static_cast<const hawk_mapping_event*>(record));
  }
  return 0;
}

}  // namespace

Result<MappingEvents> MappingEvents::make(const Source& source) {
  MappingEvents events;
  events.lost_ = source.lost;
  events.router_ = std::make_unique<MappingRouter>(source.has_births);
  events.ring_.reset(ring_buffer__new(source.ring_fd, take_record, events.router_.get(), nullptr));
  if (events.ring_ == nullptr) {
    return system_failure(ExitCode::kPrivilege, "watch for new mappings", errno);
  }
  return events;
}

void MappingEvents::FreeRing::operator()(ring_buffer* ring) const { ring_buffer__free(ring); }

int MappingEvents::poll_fd() const { return ring_buffer__epoll_fd(ring_.get()); }

void MappingEvents::read() {
  ring_buffer__consume(ring_.get());
  const std::uint32_t lost = __atomic_load_n(lost_, __ATOMIC_ACQUIRE);
  if (lost != lost_seen_) router_->note_lost();
  lost_seen_ = lost;
}

MappingChanges MappingEvents::take(std::uint32_t target) {
  read();
  return router_->take(target);
}

}  // namespace hawk
