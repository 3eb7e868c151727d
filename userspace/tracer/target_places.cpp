#include "userspace/tracer/target_places.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <iterator>

#include "userspace/base/out_of_memory.h"
#include "userspace/base/system_failure.h"
#include "userspace/tracer/children.h"
#include "userspace/tracer/task_iteration.h"

namespace hawk {
namespace {

/// Processes that may be started before user space has looked.
constexpr std::size_t kSpares = 512;

}  // namespace

/// The first target has those that are set aside, which no stack has.
Result<std::uint32_t> TargetPlaces::number_of_reserved() {
  if (!std::exchange(first_has_numbers_, true)) return 0;
  const std::uint32_t first = __atomic_fetch_add(&maps_.state->next_stack, HAWK_RESERVED_NUMBERS, __ATOMIC_SEQ_CST);
  if (first + HAWK_RESERVED_NUMBERS <= maps_.config.max_stacks) return first;
  __atomic_fetch_sub(&maps_.state->next_stack, HAWK_RESERVED_NUMBERS, __ATOMIC_SEQ_CST);
  return fail(
      ExitCode::kPrivilege,
      fmt::format("the stack table is full: each process takes {} of its numbers, and with --follow {} are set aside",
                  HAWK_RESERVED_NUMBERS, kSpares * HAWK_RESERVED_NUMBERS),
      "raise --max-stacks");
}

Result<void> TargetPlaces::begin_program(hawk_target& target, std::uint32_t number) {
  Place& place = places_[number];
  const bool is_again = place.program != 0;
  const std::uint32_t program = is_again ? place.program : (target.program | number) + HAWK_NEXT_PROGRAM;
  const std::uint32_t reserved = is_again ? place.reserved : HAWK_TRY(number_of_reserved());
  const std::uint32_t no_stack = is_again ? place.no_stack : reserved + HAWK_NO_STACK;
  place.program = 0;
  if (target.has_children != 0) forget_children(maps_.child_programs_fd, number);
  target = {};
  target.first_program = program;
  target.reserved_numbers = reserved;
  target.no_stack = no_stack;
  hawk_stack_record record = {};
  record.program = program;
  if (bpf_map_update_elem(bpf_map__fd(skeleton_.maps.stack_records), &no_stack, &record, BPF_ANY) != 0) {
    return system_failure(ExitCode::kPrivilege, "store the number of blocks without a stack", errno);
  }
  __atomic_store_n(&target.program, program, __ATOMIC_SEQ_CST);
  return {};
}

/// A place with a program, on which nothing runs yet.
Result<std::uint32_t> TargetPlaces::prepare() {
  const auto free =
      std::find_if(places_.begin(), places_.end(), [](const Place& place) { return place.use == Use::kFree; });
  if (free == places_.end())
    return fail(ExitCode::kPrivilege, fmt::format("{} processes are already traced", places_.size()));
  const auto number = static_cast<std::uint32_t>(std::distance(places_.begin(), free));
  HAWK_TRY_VOID(or_out_of_memory([&] {
    maps_.targets = targets_.first(std::max<std::size_t>(maps_.targets.size(), number + 1));
    return Result<void>();
  }));
  HAWK_TRY_VOID(begin_program(maps_.targets[number], number));
  return number;
}

Result<std::uint32_t> TargetPlaces::take(int pid) {
  const std::uint32_t number = HAWK_TRY(prepare());
  hawk_target& target = maps_.targets[number];
  target.pid = static_cast<__u32>(pid);
  target.is_shared = 1;  // perhaps
  __atomic_store_n(&maps_.state->searched_target, number, __ATOMIC_SEQ_CST);
  const Result<void> found = run_for_tasks(skeleton_.progs.find_target, pid);
  if (!found || target.memory == 0) {
    return fail(ExitCode::kNoTarget,
                fmt::format("find process {} in the kernel: {}", pid,
                            found ? "it has no memory, or is traced already" : found.error().what));
  }
  places_[number].use = Use::kTaken;
  return number;
}

std::size_t TargetPlaces::taken_count() const {
  return static_cast<std::size_t>(
      std::count_if(places_.begin(), places_.end(), [](const Place& place) { return place.use == Use::kTaken; }));
}

/// Whether processes that live leave none over for a while.
bool TargetPlaces::are_all_used() const {
  std::size_t living = 0;
  for (std::uint32_t number = 0; number < maps_.targets.size(); ++number) {
    const bool has_ended = __atomic_load_n(&maps_.targets[number].ended_ns, __ATOMIC_ACQUIRE) != 0;
    if (places_[number].use == Use::kTaken && !has_ended) ++living;
  }
  return living + HAWK_FEW_SPARES > places_.size();
}

Result<void> TargetPlaces::fill_spares() {
  __atomic_store_n(&maps_.state->all_places_used, are_all_used() ? 1 : 0, __ATOMIC_RELEASE);
  for (; spares_ < kSpares; ++spares_) {
    const std::uint32_t number = HAWK_TRY(prepare());
    if (bpf_map_update_elem(bpf_map__fd(skeleton_.maps.spare_targets), nullptr, &number, BPF_ANY) != 0)
      return system_failure(ExitCode::kPrivilege, "keep a target for a child process", errno);
    places_[number].use = Use::kSpare;
    __atomic_fetch_add(&maps_.state->spares_added, 1, __ATOMIC_SEQ_CST);
  }
  return {};
}

std::vector<Birth> TargetPlaces::take_births() {
  std::vector<Birth> births;
  const std::uint32_t now = __atomic_load_n(&maps_.state->births, __ATOMIC_ACQUIRE);
  if (now == std::exchange(births_seen_, now)) return births;
  for (std::uint32_t number = 0; number < maps_.targets.size(); ++number) {
    const hawk_target& target = maps_.targets[number];
    if (places_[number].use != Use::kSpare || __atomic_load_n(&target.enabled, __ATOMIC_ACQUIRE) == 0) continue;
    places_[number].use = Use::kTaken;
    --spares_;
    births.push_back({.number = number,
                      .maker_program = target.maker,
                      .pid = static_cast<int>(target.pid),
                      .time_ns = target.born_ns,
                      .is_new_program = target.is_new_program != 0});
  }
  std::sort(births.begin(), births.end(), [](const Birth& a, const Birth& b) { return a.time_ns < b.time_ns; });
  return births;
}

void TargetPlaces::give_back(std::uint32_t number) {
  hawk_target& target = maps_.targets[number];
  Place& place = places_[number];
  __atomic_store_n(&target.enabled, 0, __ATOMIC_SEQ_CST);
  const int groups = bpf_map__fd(skeleton_.maps.target_of_group),
            memories = bpf_map__fd(skeleton_.maps.target_of_memory);
  __u32 at = 0;
  if (bpf_map_lookup_elem(groups, &target.group, &at) == 0 && at == number) bpf_map_delete_elem(groups, &target.group);
  bpf_map_delete_elem(memories, &target.memory);
  // Threads of a process that goes on may still have the number. What begun calls were counted on is not at zero.
  const bool is_at_rest = __atomic_load_n(&target.ended_ns, __ATOMIC_ACQUIRE) != 0 && target.is_outlived == 0 &&
                          pending_on(maps_, target.reserved_numbers + HAWK_IN_HAND) == Pending{} &&
                          pending_on(maps_, target.reserved_numbers + HAWK_NESTED) == Pending{};
  place.use = is_at_rest ? Use::kEnded : Use::kFree;
  place.program = is_at_rest ? target.program : 0;
  place.reserved = target.reserved_numbers;
  place.no_stack = target.no_stack;
  // Whatever still has the old number has a program that has ended.
  __atomic_fetch_add(&target.program, HAWK_NEXT_PROGRAM, __ATOMIC_SEQ_CST);
  __atomic_fetch_add(&maps_.state->programs_ended, 1, __ATOMIC_SEQ_CST);
}

std::set<std::uint32_t> TargetPlaces::ended() const {
  std::set<std::uint32_t> programs;
  for (const Place& place : places_) {
    if (place.use == Use::kEnded) programs.insert(place.program);
  }
  return programs;
}

void TargetPlaces::reuse(const std::set<std::uint32_t>& programs) {
  for (Place& place : places_) {
    if (place.use == Use::kEnded && programs.contains(place.program)) place.use = Use::kFree;
  }
}

}  // namespace hawk
