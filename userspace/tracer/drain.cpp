#include "userspace/tracer/drain.h"

#include <algorithm>
#include <utility>

#include "userspace/tracer/children.h"

namespace hawk {
namespace {

std::uint64_t load(const __u64& value) { return __atomic_load_n(&value, __ATOMIC_ACQUIRE); }

/// Adds one member pair of every stripe into `sums`.
void add_stripes(const KernelMaps& maps, std::vector<Counters>& sums, void (*add)(Counters&, const hawk_counters&)) {
  const std::span<const hawk_counters> all = maps.counters.as<hawk_counters>();
  for (std::size_t stripe = 0; stripe <= maps.config.cpu_mask; ++stripe) {
    const hawk_counters* first = &all[stripe * maps.config.max_stacks];
    for (std::size_t number = 0; number < sums.size(); ++number) add(sums[number], first[number]);
  }
}

std::vector<Counters> sum_counters(const KernelMaps& maps, std::size_t stack_count) {
  std::vector<Counters> sums(stack_count);
  add_stripes(maps, sums, [](Counters& sum, const hawk_counters& stripe) {
    sum.allocated_bytes += load(stripe.allocated_bytes);
    sum.allocated_count += load(stripe.allocated_count);
  });
  // The instant that the drain is of. What follows is not read before: loads are made in their order on x86, and the
  // acquire order of each says so to the compiler and to other processors.
  add_stripes(maps, sums, [](Counters& sum, const hawk_counters& stripe) {
    sum.freed_bytes += load(stripe.freed_bytes);
    sum.freed_count += load(stripe.freed_count);
  });
  return sums;
}

NewStack read_stack(const KernelMaps& maps, std::uint32_t number) {
  const hawk_stack_record& record = maps.stack_records.as<hawk_stack_record>()[number];
  const std::span<const __u64> locations = maps.locations.as<__u64>();
  std::vector<std::uint64_t> addresses;
  addresses.reserve(record.depth);
  for (const __u32 location : maps.frames.subspan(record.first_frame, record.depth)) {
    addresses.push_back(locations[location]);
  }
  return {.id = StackId{number},
          .exec_epoch = record.exec_epoch,
          .end = static_cast<hawk_end>(record.end),
          .guessed = record.guessed != 0,
          .addresses = std::move(addresses)};
}

}  // namespace

Drained Drain::read(const KernelMaps& maps) {
  Drained drained;
  const std::uint32_t used = __atomic_load_n(&maps.state->next_stack, __ATOMIC_ACQUIRE);
  std::vector<Counters> sums = sum_counters(maps, std::min(used, maps.config.max_stacks));
  drained.exec_epoch = __atomic_load_n(&maps.state->exec_epoch, __ATOMIC_ACQUIRE);
  drained.frees_of_untraced = sums[HAWK_UNTRACED].freed_count;
  for (std::size_t cause = 0; cause < HAWK_LOSS_COUNT; ++cause) {
    drained.losses.counts[cause] = load(maps.state->losses[cause]);
  }
  drained.children = read_children(maps.child_programs_fd, *maps.state);
  given_.resize(std::max(given_.size(), sums.size()));
  for (std::uint32_t number = 0; number < sums.size(); ++number) {
    const bool bookkeeping = number != HAWK_NO_STACK && number < HAWK_FIRST_STACK;
    if (bookkeeping || sums[number].allocated_count == 0) continue;
    drained.counters.push_back({.id = StackId{number}, .counters = sums[number]});
    if (!given_[number]) drained.new_stacks.push_back(read_stack(maps, number));
    given_[number] = true;
  }
  return drained;
}

}  // namespace hawk
