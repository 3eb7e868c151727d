#pragma once

#include <cstdint>
#include <span>

#include "bpf/layout.h"
#include "bpf/live/arena_layout.h"
#include "userspace/base/result.h"

namespace hawk {

/// An arena, and descriptors of the BPF programs that operate on it.
struct ArenaPrograms {
  std::uint64_t address = 0;  ///< where it is mapped: next_arena_address()
  int make_pages = -1;
  int free_pages = -1;
  int shrink = -1;
  int sweep = -1;
};

/// The address for a new arena, different for each arena of this process.
std::uint64_t next_arena_address();

/// The pages of the arena: makes them before the programs need them, and frees pages that are no longer used.
///
/// Pages are made by a program (bpf_arena_alloc_pages), which can be refused memory; if hawktrace faulted them in, it
/// would be killed in that case. So nothing here touches a page that has not been made.
class ArenaMemory {
 public:
  /// For a table that can hold `max_blocks` blocks in at most `max_pages` pages.
  static Result<ArenaMemory> make(const ArenaPrograms& programs, std::uint32_t max_pages, hawk_state& state);

  /// Pages of the live table that hold that many blocks.
  static std::uint32_t pages_for(std::uint64_t blocks);
  /// Fewer pages ready than this: programs request more.
  static constexpr std::uint32_t kPagesLow = 1024;

  /// Whether it has more pages than it began with. If not, shrinking does nothing.
  bool has_grown() const;
  /// Makes as many pages as growth may need before the next call, shrinks the table if it has become sparse and that
  /// can be done, and frees pages. To be called on request of the programs and periodically. Returns false when memory
  /// was refused.
  bool adjust_pages(bool can_shrink);

  /// Removes the blocks of programs that have ended.
  void sweep();

  /// The pages that the live table uses now.
  std::span<const hawk_live_page> live_pages() const;
  /// Bytes of memory that the arena takes.
  std::uint64_t resident_bytes() const;
  /// Blocks in the table.
  std::int64_t population() const;

 private:
  ArenaMemory(const ArenaPrograms& programs, std::uint32_t max_pages, hawk_state& state)
      : programs_(programs), max_pages_(max_pages), state_(&state) {}
  std::uint32_t used() const;
  std::uint64_t address_of(std::uint32_t page) const;
  bool make_pages(std::uint32_t first, std::uint32_t count);
  bool supply();
  void shrink();
  void free_unused();

  ArenaPrograms programs_;
  std::uint32_t max_pages_;
  hawk_state* state_;
  hawk_arena_header* header_ = nullptr;  ///< in the arena
  std::uint32_t header_pages_ = 0;
  std::uint32_t used_before_ = 0;  ///< at the last call of adjust_pages
};

}  // namespace hawk
