#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "userspace/export/piece_writer.h"
#include "userspace/tables/counters.h"
#include "userspace/tables/snapshot.h"

namespace hawk {

/// Blocks of a stack, `bytes` in all, as equal as they can be.
struct Blocks {
  std::uint64_t bytes = 0;
  std::uint64_t count = 0;
};

/// Writes what stacks allocated and freed as lines of heaptrack's format, one for each call: that is all it knows. Of a
/// time as a whole the counters have no order. Stacks that hold less at its end free first, and allocate last if they
/// hold more; what was freed again in between comes and goes block by block. So the reader's peak is the most that was
/// live at the end of any such time, and a block at most.
class HeaptrackEvents {
 public:
  /// `records`: the stacks, as they are at the end; `traces`: the numbers of their traces. Both must outlive this.
  HeaptrackEvents(PieceWriter& out, const std::vector<const StackRecord*>& records,
                  const std::vector<std::uint32_t>& traces);

  /// All until the state `now`, which is an earlier one of the same program. What does not fit the end, in a recording
  /// that was made up, is left for it. False: no more is wanted.
  bool advance(const Snapshot& now);
  /// All until the end.
  bool advance_to_end();
  /// Blocks that are there.
  bool put_live(const Blocks& blocks, std::size_t record);

 private:
  struct Change {
    std::size_t record = 0;
    Blocks allocated;
    Blocks freed;
  };
  /// The lines of some blocks, one after the other.
  class Lines;

  bool put(const std::vector<Change>& changes);
  bool put_pairs(Lines& allocated, Lines& freed, std::uint64_t count);
  bool put_each(char event, Lines& lines, std::uint64_t count);
  Change change_to(std::size_t record, const Counters& now);

  PieceWriter& out_;
  const std::vector<const StackRecord*>& records_;
  const std::vector<std::uint32_t>& traces_;
  std::vector<std::pair<StackId, std::size_t>> by_id_;  ///< of each record, ascending
  std::vector<Counters> written_;                       ///< of each record
  std::uint64_t blocks_ = 0;                            ///< lines "a" so far
};

}  // namespace hawk
