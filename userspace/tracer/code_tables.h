#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "bpf/layout.h"
#include "bpf/unwind/layout.h"
#include "userspace/base/result.h"
#include "userspace/base/unique_fd.h"
#include "userspace/tracer/growing_array.h"
#include "userspace/tracer/index_pool.h"

namespace hawk {

/// Where rows are stored.
struct AddedRows {
  std::uint32_t first = 0;
  bool is_new = false;  ///< they were not there before
};

/// The kernel's side of the unwinder, as user space writes it: rules, the rows of all files, and which code lies where.
class CodeTables {
 public:
  /// Mapped memory of the programs; lives as long as the skeleton.
  struct Memory {
    int segments_fd = -1;     ///< the map row_segments
    int known_files_fd = -1;  ///< the map known_files
    hawk_state* state = nullptr;
    GrowingArray<hawk_rule> rules;                ///< HAWK_MAX_RULES
    GrowingArray<hawk_code_range> ranges;         ///< of all targets
    GrowingArray<hawk_range_state> range_states;  ///< the same
    GrowingArray<__u64> cache;
  };
  explicit CodeTables(const Memory& memory) : memory_(memory), pool_(memory.ranges.size()), spare_(pool_) {}
  CodeTables(const CodeTables&) = delete;
  CodeTables& operator=(const CodeTables&) = delete;
  ~CodeTables();

  /// Makes room for that many more rows, as far as possible. The kernel takes 15 ms each time, whether for one table or
  /// for fifty.
  Result<void> reserve_rows(std::uint64_t rows);
  /// Stores the rows of one file, unless equal rows are stored. nullopt: no room is left.
  Result<std::optional<AddedRows>> add_rows(std::span<const hawk_row> rows);
  /// Their room is for others from now on: no program may be able to read them any more (wait_for_programs).
  void remove_rows(std::uint32_t first);
  /// Sets all rules, of which those that rows in use refer to are unchanged. To be called before rows that refer to
  /// new ones are in use.
  void set_rules(std::span<const hawk_rule> rules);
  /// Which rows an executable segment of a file has, for code that set_ranges has not named: `code.start` to
  /// `code.end` are offsets in the file, and so is what `code.base` is subtracted from. To be called before set_ranges.
  /// Without effect when HAWK_MAX_KNOWN_FILES are known.
  void add_file_part(const hawk_file_part& part, hawk_code_range code);
  void remove_file_part(const hawk_file_part& part);
  /// A target's part of the table of ranges.
  PooledArea no_area() { return PooledArea(pool_); }
  /// Sets all code of a target, sorted and without overlaps, replacing the previous ranges; from now on cached data
  /// about it is not used. Beyond HAWK_MAX_CODE_RANGES, or what room there is, the rest is left out.
  void set_ranges(hawk_target& target, PooledArea& area, std::span<const hawk_code_range> ranges);

  /// The maps that hold the rows.
  std::vector<int> map_fds() const;

 private:
  /// HAWK_SEGMENT_ROWS rows, mapped.
  struct Segment {
    UniqueFd fd;
    hawk_row* rows = nullptr;
  };
  struct StoredRows {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
  };
  /// Calls `use` with those of one segment after the other, as far as it returns true; whether it always did.
  bool in_segments(std::uint64_t first, std::span<const hawk_row> rows,
                   const std::function<bool(hawk_row* stored, std::span<const hawk_row> rows)>& use);
  std::optional<std::uint32_t> find_rows(std::size_t hash, std::span<const hawk_row> rows);
  Result<void> make_segments(std::size_t count);
  Result<void> add_segment();
  Result<void> hand_over_segments(std::size_t first);
  void drop_segments(std::size_t first);
  void clear_cache_in_time();

  Memory memory_;
  IndexPool pool_;    ///< of the ranges
  PooledArea spare_;  ///< where the next ones are written
  std::vector<Segment> segments_;
  IndexPool row_pool_{HAWK_MAX_ROWS};
  std::uint64_t row_count_ = 0;  ///< that are taken
  std::unordered_multimap<std::size_t, StoredRows> rows_by_hash_;
};

}  // namespace hawk
