#include "userspace/tracer/maps_ahead.h"

#include <bpf/bpf.h>

#include <algorithm>
#include <utility>

#include "userspace/base/threads.h"

namespace hawk {
namespace {

/// What libbpf makes of nothing but these: no types are needed of what is in it.
bool is_plain(const bpf_map* map) {
  return bpf_map__autocreate(map) && !bpf_map__is_internal(map) && bpf_map__map_extra(map) == 0 &&
         (bpf_map__type(map) == BPF_MAP_TYPE_ARRAY || bpf_map__type(map) == BPF_MAP_TYPE_HASH);
}

bool is_large(const bpf_map* map) {
  constexpr std::uint64_t kLarge = 1U << 20;
  return std::uint64_t{bpf_map__value_size(map)} * bpf_map__max_entries(map) >= kLarge;
}

}  // namespace

MapsAhead::MapsAhead(const bpf_object& object) {
  bpf_map* map = nullptr;
  bpf_object__for_each_map(map, &object) {
    // What has a descriptor of another object's map is not made.
    if (!is_plain(map) || !is_large(map)) continue;
    maps_.push_back({.name = bpf_map__name(map),
                     .type = bpf_map__type(map),
                     .key_bytes = bpf_map__key_size(map),
                     .value_bytes = bpf_map__value_size(map),
                     .entries = bpf_map__max_entries(map),
                     .flags = bpf_map__map_flags(map)});
  }
  if (!maps_.empty()) thread_ = try_thread([this] { make_all(); });
}

void MapsAhead::make_all() {
  for (Made& map : maps_) {
    LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = map.flags);
    map.fd =
        UniqueFd(bpf_map_create(map.type, map.name.c_str(), map.key_bytes, map.value_bytes, map.entries, &options));
  }
}

UniqueFd MapsAhead::take(std::string_view name) {
  if (thread_.joinable()) thread_.join();
  const auto found = std::find_if(maps_.begin(), maps_.end(), [&](const Made& map) { return map.name == name; });
  return found != maps_.end() ? std::exchange(found->fd, {}) : UniqueFd();
}

}  // namespace hawk
