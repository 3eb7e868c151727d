#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bpf/unwind/layout.h"
#include "userspace/attach/known_files.h"
#include "userspace/attach/module_map.h"
#include "userspace/attach/read_ahead.h"
#include "userspace/base/kept_things.h"
#include "userspace/study/file_study.h"
#include "userspace/tracer/engine.h"
#include "userspace/unwinding/rule_set.h"
#include "userspace/unwinding/unwind_table.h"

namespace hawk {

/// Rows that the kernel has.
struct StoredRows {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  std::vector<std::uint32_t> rules;  ///< numbers of those that they refer to, each once
};

/// Where the kernel has the unwind rows of a file.
struct StoredTable {
  std::uint64_t base_vaddr = 0;  ///< see UnwindTable
  std::uint32_t first_row = 0;
  std::uint32_t row_count = 0;                      ///< 0: the file has no table, or it has not been read yet
  std::shared_ptr<const StoredRows> use = nullptr;  ///< the rows are there as long as somebody has it
};

/// An executable segment of a file, and its rows by offsets in the file: see CodeTables::add_file_part.
struct FilePart {
  hawk_file_part part = {};
  hawk_code_range code = {};
  std::shared_ptr<const StoredRows> use = nullptr;
};

/// How much is stored at most.
struct UnwindLimits {
  std::uint64_t rows = kMaxRowsInSum;
  /// With more than so many, rows that no process uses are given up: a fleet is built anew again and again.
  std::uint64_t kept_rows = kMaxRowsInSum / 2;
  std::size_t rules = HAWK_MAX_RULES;
};

/// The unwind rules and rows in the kernel, for all targets of an engine: equal rows are stored once. Rows remain after
/// the last process that has mapped their file has ended, for the next one, until their room is needed. That is given
/// to others only when no program can be on a walk by these rows any more: a wrong stack is worse than a short one.
class UnwindStore {
 public:
  /// The engine must live longer.
  explicit UnwindStore(Engine& engine, const UnwindLimits& limits = {});

  /// Makes room for so many rows, and for rules that are not known: see CodeTables::reserve_rows.
  void reserve(std::uint64_t rows, std::size_t new_rules);
  /// How many of these rules are not known.
  std::size_t count_new(std::span<const hawk_rule> rules) const;
  /// Passes the table to the kernel side, with our numbers in its rows. `path`: its file, for the warning if that
  /// fails.
  StoredTable store(const std::string& path, FileTable read);
  /// Where the kernel has the rows of the module's file; nullopt: it is not known to have any.
  std::optional<StoredTable> find(const MappedModule& module);
  void note_stored(const MappedModule& module, const StoredTable& table) {
    tables_.add(module, {.base_vaddr = table.base_vaddr, .rows = table.use});
  }
  /// Passes new rules to the kernel side. To be called before a range or a part refers to rows that use them.
  void publish_rules();

  /// Announces which rows the part of a file has that a target has mapped, or may map.
  void add_part(const FilePart& part);
  /// Another target needs what add_part() was called with.
  void share_part(const hawk_file_part& part) { ++parts_[key_of(part)].targets; }
  /// One target for which add_part() was called no longer needs it.
  void remove_part(const hawk_file_part& part);

  /// Rules for which there was no room.
  std::uint64_t refused_rules() const { return rules_.refused(); }
  std::uint64_t rows_in_sum() const { return rows_in_sum_; }
  std::size_t rule_count() const { return rules_.count(); }

 private:
  /// A file's rows, unless they have been given up.
  struct KnownTable {
    std::uint64_t base_vaddr = 0;
    std::weak_ptr<const StoredRows> rows;
  };
  struct Part {
    std::size_t targets = 0;                          ///< that need it
    std::shared_ptr<const StoredRows> use = nullptr;  ///< by which the kernel walks there
  };
  using PartKey = std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>;
  static PartKey key_of(const hawk_file_part& part) { return {part.inode, part.device, part.number}; }

  void give_up_unused(std::uint64_t rows, std::size_t new_rules);
  void give_up(const StoredRows& rows);
  void forget_unused(std::span<const std::uint32_t> rules);

  Engine& engine_;
  UnwindLimits limits_;
  RuleSet rules_;
  std::vector<std::uint32_t> rule_users_;  ///< by number: how many of the stored rows refer to it
  KeptThings<StoredRows> stored_;
  KnownFiles<KnownTable> tables_;
  std::optional<std::uint64_t> published_changes_;  ///< of the rules, that the kernel knows
  std::uint64_t rows_in_sum_ = 0;
  std::map<PartKey, Part> parts_;
};

}  // namespace hawk
