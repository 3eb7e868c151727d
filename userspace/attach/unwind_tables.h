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
#include "userspace/attach/unwind_store.h"
#include "userspace/base/ids.h"
#include "userspace/study/file_study.h"
#include "userspace/tables/snapshot.h"
#include "userspace/tracer/tracer.h"
#include "userspace/unwinding/unwind_table.h"

namespace hawk {

/// Every executable mapping of an ELF file or of the vdso, by address, with the rows of its file. `tables` is indexed
/// by module, and may be too short. Code whose offset in its file is not certain has no rows. If there are more than
/// `max_ranges`, those without rows are left out first, then those at the highest addresses.
std::vector<hawk_code_range> code_ranges_of(const ModuleMap& modules, std::span<const StoredTable> tables,
                                            std::size_t max_ranges = HAWK_MAX_CODE_RANGES);

/// The parts by which the kernel finds the code of a module's file, wherever it is mapped; for a file that is not ELF,
/// the note that it has none. Empty when the ELF file has no rows, is not open (another file might get its inode
/// number), or has segments of code that cannot be distinguished by offsets.
std::vector<FilePart> file_parts_of(const MappedModule& module, const StoredTable& table);

/// Provides the kernel side with the data for unwinding the target's code: the files' unwind tables, and where the
/// files are mapped. Single-threaded.
class UnwindTables {
 public:
  /// `uses_tables`: if false, all functions do nothing.
  UnwindTables(Tracer& tracer, UnwindStore& store, bool uses_tables);
  /// Those of a process that was just made as a copy of the one of `maker`, by another tracer.
  UnwindTables(const UnwindTables& maker, Tracer& tracer);
  UnwindTables(const UnwindTables&) = delete;
  UnwindTables& operator=(const UnwindTables&) = delete;
  /// Removes what only this target needed.
  ~UnwindTables();

  /// Whether the module's unwind table is to be read, and taken by take_table(): files of one build id are read once.
  /// To be called once for each module.
  bool wants_table(const ModuleMap& modules, ModuleId id);
  /// Takes the module's table, for the next publish() to store it. nullopt: it could not be read, because of `gap`.
  void take_table(const ModuleMap& modules, ModuleId id, std::optional<FileTable> table, const std::string& gap);
  /// Stores what has been read since the last time, and announces where code is mapped now, in place of what was
  /// announced before. Without new tables that takes microseconds, but it invalidates the cache of the kernel
  /// side.
  void publish(const ModuleMap& modules);
  /// The same if mappings have been added, or forgotten, since the last time.
  void publish_changes(const ModuleMap& modules) {
    if (modules.changes() != published_changes_) publish(modules);
  }
  /// The same if that was last done more than a millisecond ago: for when many files are read.
  void publish_now_and_then(const ModuleMap& modules);

  /// The module's file is going to be closed: another one may get its inode number.
  void forget_file(ModuleId id);

  /// The results for the tables of all modules so far.
  const UnwindInfo& info() const { return info_; }

 private:
  /// What the store has been given of a module's file.
  struct PublishedFile {
    FileIdentity mapped;  ///< as /proc/PID/maps called it last
    std::vector<hawk_file_part> parts;
  };

  void add_parts(PublishedFile& file, const std::vector<FilePart>& parts);
  void forget_parts(std::size_t index);
  void note_without_table(const ModuleMap& modules, ModuleId id, const UnwindTable& table);
  void reserve_room();
  void store_table(const ModuleMap& modules, ModuleId id, FileTable table);
  void store_tables(const ModuleMap& modules);
  void publish_files(const ModuleMap& modules);

  void warn_of_limits(const ModuleMap& modules);

  Tracer& tracer_;
  UnwindStore& store_;
  bool uses_tables_;
  std::vector<StoredTable> tables_;                            ///< by module
  std::vector<std::optional<PublishedFile>> published_files_;  ///< by module
  std::vector<std::pair<ModuleId, FileTable>> unstored_;
  std::vector<std::pair<ModuleId, StoredTable>> known_;    ///< what the store has, and tables_ has not yet
  std::vector<std::pair<ModuleId, ModuleId>> same_files_;  ///< modules, and those before them with the same build id
  std::map<std::string, ModuleId> by_build_id_;
  UnwindInfo info_;
  std::uint64_t published_changes_ = 0;
  std::chrono::steady_clock::time_point published_at_;
  bool warned_of_ranges_ = false;
  bool has_refused_rules_ = false;  ///< in the tables of this process
  bool warned_of_rules_ = false;
};

}  // namespace hawk
