#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bpf/unwind/layout.h"
#include "userspace/attach/module_map.h"
#include "userspace/base/ids.h"
#include "userspace/study/file_study.h"
#include "userspace/tables/snapshot.h"
#include "userspace/tracer/tracer.h"
#include "userspace/unwinding/rule_set.h"
#include "userspace/unwinding/unwind_table.h"

namespace hawk {

/// Where the kernel has the unwind rows of a file.
struct StoredTable {
  std::uint64_t base_vaddr = 0;  ///< see UnwindTable
  std::uint32_t first_row = 0;
  std::uint32_t row_count = 0;  ///< 0: the file has no table, or it has not been read yet
};

/// Every executable mapping of an ELF file or of the vdso, by address, with the rows of its file. `tables` is indexed
/// by module, and may be too short. Code of which it is not clear where in its file it belongs has no rows. Where there
/// are more than `max_ranges`, those without rows are left out, then those at the highest addresses.
std::vector<hawk_code_range> code_ranges_of(const ModuleMap& modules, std::span<const StoredTable> tables,
                                            std::size_t max_ranges = HAWK_MAX_CODE_RANGES);

/// An executable segment of a file, and its rows by offsets in the file: see CodeTables::add_file_part.
struct FilePart {
  hawk_file_part part = {};
  hawk_code_range code = {};
};

/// By what the kernel finds the code of a module's file, wherever it is mapped; of a file that is not ELF, that there
/// is none. Empty when the ELF file has no rows, is not open (another file might get its inode number), or has segments
/// of code that cannot be told apart by offsets.
std::vector<FilePart> file_parts_of(const MappedModule& module, const StoredTable& table);

/// Tells the kernel side how to unwind the target's code: what the files' unwind tables say, and where the files are
/// mapped. Single-threaded.
class UnwindTables {
 public:
  /// `uses_tables`: false makes all of it do nothing.
  UnwindTables(Tracer& tracer, bool uses_tables);

  /// Whether the module's unwind table is to be read, and taken by take_table(): files of one build id are read once.
  /// To be asked once for each module.
  bool wants_table(const ModuleMap& modules, ModuleId id);
  /// Takes the module's table, for the next publish() to store it. nullopt: it could not be read, because of `gap`.
  void take_table(const ModuleMap& modules, ModuleId id, std::optional<FileTable> table, const std::string& gap);
  /// Stores what has been read since the last time, and tells where code is mapped now, in place of what was told
  /// before. Without new tables that takes microseconds, but what the kernel side had cached is void afterwards.
  void publish(const ModuleMap& modules);
  /// The same if mappings have been added, or forgotten, since the last time.
  void publish_changes(const ModuleMap& modules) {
    if (modules.changes() != published_changes_) publish(modules);
  }
  /// The same if that was last done more than a millisecond ago: for when many files are read.
  void publish_now_and_then(const ModuleMap& modules);

  /// The module's file is going to be closed: another one may get its inode number.
  void forget_file(const ModuleMap& modules, ModuleId id);

  /// What was found out about the tables of all modules so far.
  const UnwindInfo& info() const { return info_; }

 private:
  void store_tables(const ModuleMap& modules);
  StoredTable store(const MappedModule& module, const UnwindTable& table);
  void publish_rules();
  void publish_files(const ModuleMap& modules);
  void warn_of_limits(const ModuleMap& modules);

  Tracer& tracer_;
  bool uses_tables_;
  RuleSet rules_;
  std::size_t published_rules_ = 0;  ///< that the kernel knows
  std::vector<StoredTable> tables_;  ///< by module
  /// By module: the file as /proc/PID/maps gave it when its parts were told.
  std::vector<std::optional<FileIdentity>> published_files_;
  std::vector<std::pair<ModuleId, UnwindTable>> unstored_;
  std::vector<std::pair<ModuleId, ModuleId>> same_files_;  ///< modules, and those before them with the same build id
  std::map<std::string, ModuleId> by_build_id_;
  std::uint64_t rows_in_sum_ = 0;
  UnwindInfo info_;
  std::uint64_t published_changes_ = 0;
  std::chrono::steady_clock::time_point published_at_;
  bool warned_of_ranges_ = false;
  bool warned_of_rules_ = false;
};

}  // namespace hawk
