#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "bpf/layout.h"
#include "userspace/base/result.h"
#include "userspace/tracer/engine.h"
#include "userspace/tracer/growing_array.h"
#include "userspace/tracer/kernel_maps.h"
#include "userspace/tracer/programs.h"

namespace hawk {

/// Gives out the places for targets (hawk_target), to processes that user space names and, in advance, to those that
/// targets will start.
///
/// A place whose process has ended goes to the next process with the number of the program that ran there, as soon as
/// no block is left of it: copies of one process have the same stacks, which are interned once for each program. What
/// was counted on them before is taken off in Drain.
class TargetPlaces {
 public:
  /// The first two must live longer. What is mapped of `targets` is to be seen in `maps`.
  TargetPlaces(hawktrace& skeleton, KernelMaps& maps, const GrowingArray<hawk_target>& targets)
      : skeleton_(skeleton), maps_(maps), targets_(targets) {}

  /// Begins a target that nothing is known of yet. Returns its number. kNoTarget: there is no such process any more, or
  /// it is one of those that take_births() will return, or has returned.
  Result<std::uint32_t> take(int pid);
  /// Ends it: what is still counted of it is lost.
  void give_back(std::uint32_t number);

  /// Whether a caller has it. Not one whose process has been given it, before take_births().
  bool is_taken(std::uint32_t number) const { return places_[number].use == Use::kTaken; }
  /// How many are in use, those that are kept ready not among them.
  std::size_t taken_count() const;

  /// Keeps some places ready for processes that targets start.
  Result<void> fill_spares();
  /// Processes that have been given one since the last call; those places are the caller's from now on.
  std::vector<Birth> take_births();

  /// Programs that have ended and will be given again, once no block is left of them.
  std::set<std::uint32_t> ended() const;
  /// They may be given again: their stacks count from zero by now.
  void reuse(const std::set<std::uint32_t>& programs);

 private:
  /// What user space does with a place.
  enum class Use { kFree, kTaken, kSpare, kEnded };
  struct Place {
    Use use = Use::kFree;
    std::uint32_t program = 0;   ///< to be given again; 0: none
    std::uint32_t reserved = 0;  ///< stack numbers, to be given again with it
    std::uint32_t no_stack = 0;
  };

  bool are_all_used() const;
  Result<std::uint32_t> prepare();
  Result<void> begin_program(hawk_target& target, std::uint32_t number);
  Result<std::uint32_t> number_of_reserved();

  hawktrace& skeleton_;
  KernelMaps& maps_;
  GrowingArray<hawk_target> targets_;
  std::vector<Place> places_ = std::vector<Place>(HAWK_MAX_TARGETS);
  bool first_has_numbers_ = false;
  std::uint32_t births_seen_ = 0;
  std::size_t spares_ = 0;
};

}  // namespace hawk
