#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "userspace/target/allocator_functions.h"
#include "userspace/target/module_map.h"
#include "userspace/target/probed_code.h"
#include "userspace/target/target_memory.h"

namespace hawk {

/// Compares the target's code with what the probes rest on. The kernel puts its breakpoints into a process's private
/// copy of the code, but neither into writable nor into shared mappings; and the process may write over them, drop the
/// copy, or run its code in other memory, which nobody announces.
class Breakpoints {
 public:
  /// `proc_pid`: see ModuleMap. `modules` must outlive this.
  Breakpoints(int proc_pid, const ModuleMap& modules);

  /// Takes those functions out of `file` whose code the process has changed, and returns their names. A breakpoint
  /// there would harm it: the kernel executes the file's instruction in place of the one that it covers.
  std::vector<std::string> take_out_changed(ModuleId id, AllocatorFile& file);

  /// The functions of `file` are probed now.
  void watch(ModuleId id, const AllocatorFile& file);

  /// A place where there should be a breakpoint and is none.
  struct Missing {
    std::string function;
    ModuleId module{};
  };
  /// Reads every probed place of the process. Each is told once. Some 0.5 us for a place.
  std::vector<Missing> find_missing();

 private:
  struct Watched {
    ModuleId module{};
    std::vector<ProbedCode> code;
  };
  struct Suspect {
    std::uint64_t address = 0;
    const MappedCode* range = nullptr;
    const ProbedCode* code = nullptr;
  };

  bool is_changed(const ProbedCode& code, const std::vector<MappedCode>& places);
  std::vector<MappedCode> places_of(ModuleId id) const;
  std::vector<Suspect> find_suspects();
  bool is_missing(const Suspect& suspect, const std::vector<Mapping>& mappings);

  int proc_pid_;
  const ModuleMap& modules_;
  TargetMemory memory_;
  std::vector<Watched> watched_;
  std::set<std::uint64_t> told_;  ///< addresses
};

/// Executable memory that belongs to no file.
bool is_anonymous_code(const Mapping& mapping);

/// The address that the file's ELF virtual address 0 has by one mapping of the file, of any of its segments.
std::optional<std::uint64_t> load_base_by(const ElfImage& image, const Mapping& mapping);

/// Code that `mappings` have where a file's code should be, but in anonymous memory: as the mappings of that file that
/// they were before. `file`: a mapping of another part of the file.
std::vector<Mapping> replaced_code(const std::vector<Mapping>& mappings, const ElfImage& image, const Mapping& file);

}  // namespace hawk
