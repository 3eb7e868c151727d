#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "userspace/base/result.h"
#include "userspace/tables/snapshot.h"
#include "userspace/target/module_map.h"
#include "userspace/tracer/tracer.h"

namespace hawk {

/// Puts probes into every file of the target that defines allocator functions, those that it maps later included.
class Probing {
 public:
  /// `proc_pid`: see ModuleMap.
  Probing(int proc_pid, Tracer& tracer) : modules_(proc_pid), tracer_(tracer) {}

  /// Probes files that a command will map, before it runs.
  Result<void> expect_files(const std::vector<std::string>& paths);
  /// Takes the target's mappings as they are now.
  Result<void> take_mappings(const std::vector<Mapping>& mappings);
  /// Takes one new mapping. A file that cannot be probed is a loss, not an error: the trace goes on.
  void take_new_mapping(const Mapping& mapping);

  /// From now on a new file with allocator functions is a late one: what it handed out before it was probed is unknown.
  void tracing_began() { tracing_ = true; }

  /// The target runs another program: which allocators that will use is not known for sure any more.
  void program_replaced() { knows_allocator_files_ = false; }

  bool found_allocator() const { return !allocators_.empty(); }
  const std::vector<Allocator>& allocators() const { return allocators_; }
  const ModuleMap& modules() const { return modules_; }

 private:
  Result<void> probe_module(ModuleId id, bool is_expected);
  Result<void> probe_allocator(const MappedModule& module, bool is_expected);
  Result<void> add_operator_frames(ModuleId id, bool is_expected);
  void update_base(ModuleId id);
  void update_allocator_ranges();

  ModuleMap modules_;
  Tracer& tracer_;
  bool tracing_ = false;
  std::vector<Allocator> allocators_;
  bool knows_allocator_files_ = true;
  std::vector<ModuleId> allocator_files_;        ///< those that define an allocator, and the dynamic linker
  std::map<ModuleId, std::uint32_t> frameless_;  ///< the tracer's numbers of the files with frameless operator new
};

}  // namespace hawk
