#include "userspace/tracer/mapping_router.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string_view>
#include <utility>

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

void note(const hawk_mapping_event& event, MappingChanges& changes) {
  switch (event.kind) {
    case HAWK_MAPPING_MADE: {
      Mapping mapping = mapping_of(event);
      if (event.file.inode != 0)
        changes.new_files.push_back({event.file, mapping.start, mapping.device, mapping.inode});
      // The tree of mappings may enter one more than once.
      if (changes.mapped.empty() || !(changes.mapped.back() == mapping)) changes.mapped.push_back(std::move(mapping));
      break;
    }
    case HAWK_PROCESS_BORN:
      break;  // Engine::take_births()
    case HAWK_MAPPINGS_CHANGED:
      changes.read_all = true;
      break;
    default:
      ++changes.execs;
      changes.last_exec = ExecEvent{.comm = std::string(event.comm, ::strnlen(event.comm, sizeof(event.comm))),
                                    .path = path_of(event),
                                    .mappings_before = changes.mapped.size()};
  }
}

}  // namespace

std::vector<Mapping> MappingChanges::of_last_program() const {
  if (!last_exec) return mapped;
  const auto since = mapped.begin() + static_cast<std::ptrdiff_t>(last_exec->mappings_before);
  std::vector<Mapping> its;
  std::copy_if(mapped.begin(), since, std::back_inserter(its),
               [&](const Mapping& mapping) { return !mapping.path.empty() && mapping.path == last_exec->path; });
  its.insert(its.end(), since, mapped.end());
  return its;
}

void MappingRouter::follow(std::uint32_t target) {
  const auto [of_target, is_new] = changes_.try_emplace(target);
  if (is_new) of_target->second.read_all = has_lost_;
}

void MappingRouter::add(const hawk_mapping_event& event) {
  if (keeps_all_) follow(event.target);
  const auto of_target = changes_.find(event.target);
  if (of_target != changes_.end()) note(event, of_target->second);
}

void MappingRouter::note_lost() {
  has_lost_ = true;
  for (auto& [target, changes] : changes_) changes.read_all = true;
}

bool MappingRouter::has_changes(std::uint32_t target) const {
  const auto of_target = changes_.find(target);
  return of_target != changes_.end() && !of_target->second.is_nothing();
}

MappingChanges MappingRouter::take(std::uint32_t target) {
  const auto of_target = changes_.find(target);
  return of_target != changes_.end() ? std::exchange(of_target->second, {}) : MappingChanges{};
}

}  // namespace hawk
