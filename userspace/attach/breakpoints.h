#pragma once

#include <cstdint>
#include <deque>
#include <set>
#include <string>
#include <vector>

#include "userspace/attach/module_map.h"
#include "userspace/code/allocator_file.h"
#include "userspace/code/probed_code.h"
#include "userspace/process/memory_reader.h"
#include "userspace/process/piecewise_reading.h"
#include "userspace/tracer/last_look.h"

namespace hawk {

/// Compares the target's code with what the probes rest on. The kernel puts its breakpoints into a process's private
/// copy of the code, but neither into writable nor into shared mappings; and the process may write over them, drop the
/// copy, or run its code in other memory, unannounced.
class Breakpoints {
 public:
  /// `proc_pid`: see ModuleMap. `modules` must outlive this.
  Breakpoints(int proc_pid, const ModuleMap& modules, LastLook last_look);

  /// Those of a process whose memory was a copy of that of `maker`'s a moment ago, with the breakpoints in it.
  Breakpoints(const Breakpoints& maker, int proc_pid, const ModuleMap& modules, LastLook last_look);

  /// Takes the plans from those functions of `file` whose code, as far as the plan rests on it, the process has
  /// changed, and returns their names.
  std::vector<std::string> take_changed_plans(ModuleId id, AllocatorFile& file);

  /// Takes those functions out of `file` whose code the process has changed, and returns their names. A breakpoint
  /// there would harm it: the kernel executes the file's instruction in place of the one that it covers.
  std::vector<std::string> take_out_changed(ModuleId id, AllocatorFile& file);

  /// The functions of `file` are probed now.
  void watch(ModuleId id, const AllocatorFile& file);

  /// Registers a mapping that `modules` already has. The code that is there may have been changed with it.
  void note_mapping(const Mapping& mapping);
  /// As if of each mapping.
  void note_all_mappings() { points_changed_ = is_look_due_ = true; }
  /// Whether code that is probed may have changed since the last look, by what was announced since.
  bool is_look_due() const { return is_look_due_; }

  /// A point where there should be a breakpoint and is none.
  struct Missing {
    std::string function;
    ModuleId module{};
  };
  /// Reads every probed point of the process. Each is reported once. Some 0.1 us for a point. Those of a process that
  /// is being killed are left to the programs, which know what it has run, unless this look `is_last`.
  std::vector<Missing> find_missing(bool is_last);
  /// What the programs have found in their last look.
  std::vector<Missing> take_last_look();
  /// Passes points that have changed to the programs, for their last look.
  void publish();

 private:
  struct Watched {
    ModuleId module{};
    std::vector<ProbedCode> code;
  };
  /// A probed point in the process's memory.
  struct Point {
    std::uint64_t address = 0;  ///< of the code's first byte
    ModuleId module{};
    std::uint64_t inode = 0;           ///< of the mapping
    const ProbedCode* code = nullptr;  ///< of one in `watched_`
  };

  bool is_changed(const ProbedCode& code, const std::vector<MappedCode>& points);
  bool is_changed(const AllocatorFunction& function, ModuleId id, const std::vector<MappedCode>& points);
  std::vector<MappedCode> points_of(ModuleId id) const;
  const Watched* watched(ModuleId id) const;
  void find_points();
  std::vector<Point> all_points() const;
  std::vector<AddressRange> hulls() const;
  std::vector<const Point*> find_suspects();
  std::vector<const Point*> missing_among(std::vector<const Point*> suspects);
  bool is_missing(const Point& suspect, const std::vector<Mapping>& mappings);
  void report(const Point& point, std::vector<Missing>& missing);
  void note_last_look(const std::vector<LastLook::Missing>& seen);

  int proc_pid_;
  const ModuleMap& modules_;
  LastLook last_look_;
  MemoryReader memory_;
  std::deque<Watched> watched_;  ///< whose elements stay where they are
  std::vector<Point> points_;    ///< one file's behind each other
  PiecewiseReading reading_;     ///< of them
  std::vector<Point> published_;
  std::vector<AddressRange> hulls_;  ///< of the points of each file
  bool points_changed_ = false;
  bool is_published_ = true;  ///< what there is of the points
  bool is_look_due_ = false;
  std::set<std::uint64_t> reported_;  ///< addresses
  std::vector<Missing> seen_last_;    ///< by the programs, and not taken yet
};

/// Executable memory that belongs to no file.
bool is_anonymous_code(const Mapping& mapping);

/// The address that the file's ELF virtual address 0 has by one mapping of the file, of any of its segments.
std::optional<std::uint64_t> load_base_by(const ElfLayout& image, const Mapping& mapping);

/// Code that `mappings` have where a file's code should be, but in anonymous memory: as the mappings of that file that
/// they were before. `file`: a mapping of another part of the file.
std::vector<Mapping> replaced_code(const std::vector<Mapping>& mappings, const ElfLayout& image, const Mapping& file);

}  // namespace hawk
