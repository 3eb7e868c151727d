#include "userspace/tracer/mapping_events.h"

#include <bpf/libbpf.h>
#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "bpf/mapping_events.h"
#include "userspace/base/system_failure.h"

namespace hawk {
namespace {

/// As Mapping::device has it, from the kernel's own form (include/linux/kdev_t.h).
std::uint64_t device_of(std::uint32_t kernel_device) {
  constexpr unsigned kMinorBits = 20;
  return static_cast<std::uint64_t>(kernel_device >> kMinorBits) << 32 | (kernel_device & ((1u << kMinorBits) - 1));
}

/// The path whose names the record has, innermost first.
std::string path_of(const hawk_mapping_event& event) {
  std::string path;
  const std::size_t bytes = std::min<std::size_t>(event.path_bytes, sizeof(event.path));
  for (std::string_view names(event.path, bytes); !names.empty();) {
    const std::string_view name = names.substr(0, names.find('\0'));
    path.insert(0, name).insert(0, 1, '/');
    names.remove_prefix(std::min(name.size() + 1, names.size()));
  }
  return path;
}

Mapping mapping_of(const hawk_mapping_event& event) {
  return {.start = event.start,
          .end = event.end,
          .file_offset = event.file_offset,
          .device = device_of(event.device),
          .inode = event.inode,
          .executable = true,
          .deleted = false,
          .path = path_of(event)};
}

void add(const hawk_mapping_event& event, MappingChanges& changes) {
  switch (event.kind) {
    case HAWK_MAPPING_MADE: {
      Mapping mapping = mapping_of(event);
      // The tree of mappings may enter one more than once.
      if (changes.mapped.empty() || !(changes.mapped.back() == mapping)) changes.mapped.push_back(std::move(mapping));
      break;
    }
    case HAWK_MAPPINGS_CHANGED:
      changes.read_all = true;
      break;
    default:
      changes.last_exec =
          ExecEvent{.comm = std::string(event.comm, ::strnlen(event.comm, sizeof(event.comm))), .path = path_of(event)};
  }
}

int take_record(void* changes, void* record, std::size_t bytes) {
  if (bytes >= sizeof(hawk_mapping_event)) {
    add(*static_cast<const hawk_mapping_event*>(record), *static_cast<MappingChanges*>(changes));
  }
  return 0;
}

}  // namespace

Result<MappingEvents> MappingEvents::make(const Source& source) {
  MappingEvents events;
  events.lost_ = source.lost;
  events.taken_ = std::make_unique<MappingChanges>();
  events.ring_.reset(ring_buffer__new(source.ring_fd, take_record, events.taken_.get(), nullptr));
  if (events.ring_ == nullptr) {
    return system_failure(ExitCode::kPrivilege, "watch for new mappings", errno);
  }
  return events;
}

void MappingEvents::FreeRing::operator()(ring_buffer* ring) const { ring_buffer__free(ring); }

int MappingEvents::poll_fd() const { return ring_buffer__epoll_fd(ring_.get()); }

MappingChanges MappingEvents::take() {
  *taken_ = {};
  ring_buffer__consume(ring_.get());
  const std::uint32_t lost = __atomic_load_n(lost_, __ATOMIC_ACQUIRE);
  if (lost != lost_seen_) taken_->read_all = true;
  lost_seen_ = lost;
  return std::move(*taken_);
}

}  // namespace hawk
