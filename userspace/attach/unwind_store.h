#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bpf/unwind/layout.h"
#include "userspace/attach/known_files.h"
#include "userspace/attach/module_map.h"
#include "userspace/study/file_study.h"
#include "userspace/tracer/engine.h"
#include "userspace/unwinding/rule_set.h"
#include "userspace/unwinding/unwind_table.h"

namespace hawk {

/// Where the kernel has the unwind rows of a file.
struct StoredTable {
  std::uint64_t base_vaddr = 0;  ///< see UnwindTable
  std::uint32_t first_row = 0;
  std::uint32_t row_count = 0;  ///< 0: the file has no table, or it has not been read yet
};

/// An executable segment of a file, and its rows by offsets in the file: see CodeTables::add_file_part.
struct FilePart {
  hawk_file_part part = {};
  hawk_code_range code = {};
};

/// The unwind rules and rows in the kernel, for all targets of an engine: equal rows are stored once. Rows remain after
/// the last process that has mapped their file has ended, for the next one.
class UnwindStore {
 public:
  /// The engine must live longer.
  explicit UnwindStore(Engine& engine);

  /// The table with our numbers in its rows; without rows, and with the reason, where there is no room for more.
  UnwindTable number(FileTable read);
  /// Makes room for so many rows: see CodeTables::reserve_rows.
  void reserve(std::uint64_t rows);
  /// Passes the rows to the kernel side. `path`: their file, for the warning if that fails.
  StoredTable store(const std::string& path, const UnwindTable& table);
  /// Where the kernel has the rows of the module's file; nullptr: it is not known to have any.
  const StoredTable* find(const MappedModule& module) const { return tables_.find(module); }
  void note_stored(const MappedModule& module, const StoredTable& table) { tables_.add(module, table); }
  /// Passes new rules to the kernel side. To be called before a range or a part refers to rows that use them.
  void publish_rules();

  /// Announces which rows the part of a file has that a target has mapped, or may map.
  void add_part(const FilePart& part);
  /// Another target needs what add_part() was called with.
  void share_part(const hawk_file_part& part) { ++part_users_[{part.inode, part.device, part.number}]; }
  /// One target for which add_part() was called no longer needs it.
  void remove_part(const hawk_file_part& part);

  std::size_t rule_count() const { return rules_.rules().size(); }
  /// Rules for which there was no room.
  std::uint64_t refused_rules() const { return rules_.refused(); }

 private:
  using PartKey = std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>;

  Engine& engine_;
  RuleSet rules_;
  KnownFiles<StoredTable> tables_;
  std::size_t published_rules_ = 0;  ///< that the kernel knows
  std::uint64_t rows_in_sum_ = 0;
  std::map<PartKey, std::size_t> part_users_;  ///< how many targets need it
};

}  // namespace hawk
