#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "userspace/report/quantity.h"
#include "userspace/report/unwind_shares.h"
#include "userspace/tables/snapshot.h"

namespace hawk {

/// What a text report says of how far its stacks can be trusted. Under --unwind fp every stack is a guess: that is said
/// once, and guesses are mentioned nowhere else.
class UnwindText {
 public:
  /// Shares are those of the bytes of `quantity`; of allocated ones when there are none of it.
  UnwindText(const Snapshot& snapshot, Quantity quantity);

  bool all_complete() const;
  /// "stacks: 99.8 % of live bytes complete, 0.2 % guessed".
  std::string summary() const;
  /// The same for where space is short: "0.2 % guessed, 0.1 % truncated"; "" when all is complete, or guessed as asked
  /// for.
  std::string short_summary() const;
  struct Causes {
    std::vector<std::string> lines;  ///< "   0.2 %  guessed: no unwind table in /opt/app"; most bytes first
    std::vector<std::string> hints;  ///< what the user could do; each begins with "hint: "
  };
  /// Why stacks are not complete. Empty when all are.
  Causes causes() const;
  /// What stands at the outer end of a stack: why it is truncated, or that it is a guess while others are not; else "".
  std::string end_mark(const StackRecord& stack) const;

 private:
  std::string share(const StackGroup& group) const;
  bool holds_any(const StackGroup& group) const { return bytes_of(group.counters, quantity_) != 0; }
  std::string cause_text(const UnwindCause& cause) const;
  std::vector<std::string> hints(const std::vector<UnwindCause>& causes) const;
  std::string unsupported_reasons(ModuleId module) const;

  const Snapshot& snapshot_;
  const UnwindShares shares_;
  const bool guesses_were_asked_for_;
  const Quantity quantity_;
};

}  // namespace hawk
