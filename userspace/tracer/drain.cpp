#include "userspace/tracer/drain.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>

#include "userspace/tracer/children.h"

namespace hawk {
namespace {

std::uint64_t load(const __u64& value) { return __atomic_load_n(&value, __ATOMIC_ACQUIRE); }

/// Two counters that stand behind one another.
using Two = std::uint64_t __attribute__((vector_size(16), may_alias));

/// Each of the two is read once, and at once: so x86 reads vectors in their place.
Two load_two(const __u64& first) { return *reinterpret_cast<const volatile Two*>(&first); }

/// Which of the numbers come first. A pass that begins where the one before it has ended finds the last of what that
/// one has read in the processor's second cache.
enum class Order : std::uint8_t { kAscending, kDescending };

/// Calls `visit` with each stack number, what one stripe has counted on it, and whether that is the first stripe. A
/// piece of the numbers is finished before the next one is begun: what is summed up for them stays in the processor's
/// first cache, whatever the number of stripes is.
template <class Visitor>
void for_each_stripe(const KernelMaps& maps, std::size_t numbers, Order order, const Visitor& visit) {
  constexpr std::size_t kPiece = 256;
  const std::span<const hawk_counters> all = maps.counters.as<hawk_counters>();
  const std::size_t pieces = (numbers + kPiece - 1) / kPiece;
  for (std::size_t i = 0; i < pieces; ++i) {
    const std::size_t first = (order == Order::kAscending ? i : pieces - 1 - i) * kPiece;
    const std::size_t end = std::min(first + kPiece, numbers);
    for (std::size_t number = first; number < end; ++number) visit(number, all[number], std::true_type());
    for (std::size_t stripe = 1; stripe <= maps.config.cpu_mask; ++stripe) {
      const hawk_counters* const counters = &all[stripe * maps.config.max_stacks];
      for (std::size_t number = first; number < end; ++number) visit(number, counters[number], std::false_type());
    }
  }
  // What follows is not read before: x86 makes loads in their order, and this says so to the compiler.
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

/// What is freed already, of each stack.
void sum_freed_bytes(const KernelMaps& maps, std::vector<std::uint64_t>& sums) {
  std::uint64_t* const all = sums.data();
  for_each_stripe(maps, sums.size(), Order::kAscending,
                  [all](std::size_t number, const hawk_counters& stripe, auto is_first) {
                    const std::uint64_t freed = load(stripe.freed_bytes);
                    all[number] = is_first ? freed : all[number] + freed;
                  });
}

/// The sums of two members, the second of which is behind the first in both structures.
void sum_two(const KernelMaps& maps, std::vector<Counters>& sums, Order order, std::uint64_t Counters::*first_sum,
             __u64 hawk_counters::*first) {
  Counters* const all = sums.data();
  for_each_stripe(maps, sums.size(), order, [=](std::size_t number, const hawk_counters& stripe, auto is_first) {
    Two sum = load_two(stripe.*first);
    std::uint64_t& at = all[number].*first_sum;
    Two before = {};
    if (!is_first) std::memcpy(&before, &at, sizeof(before));
    sum += before;
    std::memcpy(&at, &sum, sizeof(sum));
  });
}

void sum_counters(const KernelMaps& maps, std::vector<Counters>& sums) {
  sum_two(maps, sums, Order::kDescending, &Counters::allocated_bytes, &hawk_counters::allocated_bytes);
  // The instant that the drain is of.
  sum_two(maps, sums, Order::kAscending, &Counters::freed_bytes, &hawk_counters::freed_bytes);
}

/// Of the stack numbers, how many have been given so far.
std::uint32_t used_numbers(const KernelMaps& maps) {
  return std::min(__atomic_load_n(&maps.state->next_stack, __ATOMIC_ACQUIRE), maps.config.max_stacks);
}

/// What there is of a target beside its stacks, and which program it runs.
struct DrainedTarget {
  std::uint32_t program = 0;
  std::uint32_t no_stack = 0;
};

/// `before`: what has been taken off the sums, by number.
DrainedTarget begin_target(const KernelMaps& maps, std::uint32_t index, const std::vector<Counters>& sums,
                           const std::vector<Counters>& before, Drained& drained) {
  const hawk_target& target = maps.targets[index];
  const DrainedTarget now = {.program = __atomic_load_n(&target.program, __ATOMIC_ACQUIRE),
                             .no_stack = __atomic_load_n(&target.no_stack, __ATOMIC_ACQUIRE)};
  if (now.program == 0) return now;
  drained.exec_epoch = (now.program - target.first_program) / HAWK_NEXT_PROGRAM;
  const std::size_t untraced = target.reserved_numbers + HAWK_UNTRACED;
  if (untraced < sums.size()) {
    const std::uint64_t by_others = untraced < before.size() ? before[untraced].freed_count : 0;
    const std::uint64_t by_all = by_others + sums[untraced].freed_count;
    // A program that has begun since the sums were read has freed nothing by then.
    const std::uint64_t by_programs_before = load(target.frees_before[hawk_frees_before(now.program)]);
    drained.frees_of_untraced = by_all - std::min(by_all, std::max(by_others, by_programs_before));
  }
  for (std::size_t cause = 0; cause < HAWK_LOSS_COUNT; ++cause)
    drained.losses.counts[cause] = load(target.losses[cause]);
  drained.children = read_children(maps.child_programs_fd, target, index);
  return now;
}

/// How many of the targets have ever been in use: the first ones.
std::uint32_t used_targets(const KernelMaps& maps) {
  const auto is_unused = [](const hawk_target& target) {
    return __atomic_load_n(&target.program, __ATOMIC_ACQUIRE) == 0;
  };
  return static_cast<std::uint32_t>(std::find_if(maps.targets.begin(), maps.targets.end(), is_unused) -
                                    maps.targets.begin());
}

}  // namespace

NewStack read_stack(const KernelMaps& maps, std::uint32_t number, StackId id) {
  const hawk_stack_record& record = maps.stack_records.as<hawk_stack_record>()[number];
  return {
      .id = id,
      .end = static_cast<hawk_end>(record.end),
      .guessed = record.guessed != 0,
      .tid = static_cast<int>(record.thread),
      .frames = FrameWords(maps.frames(record.first_frame, record.depth), maps.locations.as<std::uint64_t>().data())};
}

const std::vector<std::uint64_t>& Drain::freed_before(const KernelMaps& maps) {
  freed_.resize(used_numbers(maps));
  sum_freed_bytes(maps, freed_);
  for (std::size_t number = 0; number < std::min(before_.size(), freed_.size()); ++number)
    freed_[number] -= before_[number].freed_bytes;
  return freed_;
}

const std::vector<Counters>& Drain::sums_of(const KernelMaps& maps) {
  sums_.resize(used_numbers(maps));
  sum_counters(maps, sums_);
  for (std::size_t number = 0; number < std::min(before_.size(), sums_.size()); ++number)
    sums_[number] -= before_[number];
  return sums_;
}

void Drain::count_from_zero(const KernelMaps& maps, const std::set<std::uint32_t>& programs) {
  if (programs.empty()) return;
  const std::vector<Counters>& sums = sums_of(maps);
  before_.resize(std::max(before_.size(), sums.size()));
  given_.resize(std::max(given_.size(), sums.size()));
  const auto records = maps.stack_records.as<hawk_stack_record>();
  const auto forget = [&](std::size_t number) {
    before_[number] += sums[number];
    given_[number] = 0;
  };
  for (std::size_t number = 0; number < sums.size(); ++number) {
    if (records[number].program != 0 && programs.contains(records[number].program)) forget(number);
  }
  for (const std::uint32_t program : programs) {
    const hawk_target& target = maps.targets[program & HAWK_TARGET_MASK];
    const std::size_t untraced = target.reserved_numbers + HAWK_UNTRACED;
    if (untraced < sums.size()) forget(untraced);
  }
}

void Drain::give_back(std::uint32_t target, std::vector<StackCounters> counters) {
  if (spare_.size() <= target) spare_.resize(target + 1);
  counters.clear();
  spare_[target] = std::move(counters);
}

/// For each target an empty one, in memory that there is already.
std::vector<Drained> Drain::begin_drained(const KernelMaps& maps, std::size_t numbers) {
  std::vector<Drained> drained(used_targets(maps));
  for (std::size_t i = 0; i < std::min(drained.size(), spare_.size()); ++i)
    drained[i].counters = std::exchange(spare_[i], {});
  if (drained.size() != 1) return drained;
  // Nearly all of the numbers are of the only target, and those that are new have not been given.
  drained.front().counters.reserve(numbers);
  drained.front().new_stacks.reserve(numbers - std::min(given_.size(), numbers));
  return drained;
}

std::vector<Drained> Drain::read(const KernelMaps& maps, const std::function<bool(std::uint32_t)>& is_known) {
  const std::vector<std::uint64_t>& freed = freed_before(maps);
  const std::vector<Counters>& sums = sums_of(maps);
  std::vector<Drained> drained = begin_drained(maps, sums.size());
  std::vector<DrainedTarget> targets;
  for (std::uint32_t i = 0; i < drained.size(); ++i)
    targets.push_back(is_known(i) ? begin_target(maps, i, sums, before_, drained[i]) : DrainedTarget{});
  given_.resize(std::max(given_.size(), sums.size()));
  const std::span<const hawk_stack_record> records = maps.stack_records.as<hawk_stack_record>();
  DrainedTarget target;    // whose the last stack was
  Drained* own = nullptr;  // what is given of it; nullptr: nothing
  for (std::uint32_t number = 0; number < sums.size(); ++number) {
    if (sums[number].allocated_count == 0) continue;
    const bool is_new = given_[number] == 0;
    const std::uint32_t program = is_new ? records[number].program : given_[number];
    if (program != target.program) {
      const std::uint32_t index = program & HAWK_TARGET_MASK;
      // None's: it counts something else than blocks. Or of a program that has ended.
      const bool is_given = program != 0 && index < targets.size() && targets[index].program == program;
      target = is_given ? targets[index] : DrainedTarget{.program = program};
      own = is_given ? &drained[index] : nullptr;
    }
    if (own == nullptr) continue;
    const StackId id = number == target.no_stack ? kNoStack : StackId{number};
    own->counters.push_back({.id = id, .counters = sums[number]});
    if (number < freed.size()) own->freed_bytes_before += freed[number];
    if (!is_new) continue;
    own->new_stacks.push_back(read_stack(maps, number, id));
    given_[number] = program;
  }
  return drained;
}

}  // namespace hawk
