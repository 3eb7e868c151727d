#include "tests/unwinding/host_walk.h"

#include <algorithm>

#include "bpf/layout.h"
#include "bpf/walk_state.h"

/// bpf/unwind.h is C and looks for these by name; they are this file's only.
struct hawk_thread {
  hawk_walk walk;
  __u64 frames[HAWK_MAX_FRAMES + HAWK_STEPS_AT_ONCE];
  __u32 known_generation;
  hawk_known_step known_steps[HAWK_KNOWN_STEPS];
  const hawk::HostTables* tables;
  const hawk::StackMemory* stack;
  hawk::HostWalk* result;
  __u32 may_guess;
};

/// From where plain steps read the stack.
struct hawk_reader {
  hawk_thread* thread;
};

namespace {

thread_local const hawk::HostTables* current_tables = nullptr;
thread_local __u32 current_max_depth = 0;
thread_local hawk::HostWalk* current_result = nullptr;

/// Every other address is "not cached", so that both ways are gone.
__u32 hawk_cached_rule(__u64 address, __u32) {
  return address % 2 == 0 ? hawk::host_rule_number(*current_tables, address) : 0;
}

__u32 hawk_look_up_rule(hawk_thread* thread, __u64 address, __u32) {
  return hawk::host_rule_number(*thread->tables, address);
}

const hawk_rule* hawk_rule_at(__u32 number) {
  ++current_result->rules[current_tables->rules[number].kind];
  return &current_tables->rules[number];
}

bool hawk_stack_word(hawk_thread* thread, __u64 address, __u64* word) {
  thread->result->reads.push_back(address);
  const std::optional<std::uint64_t> found = thread->stack->word(address);
  if (found) *word = *found;
  return found.has_value();
}

/// One in four frames is "not at hand", so that both ways are gone.
bool hawk_words_at_hand(const hawk_reader* reader, __u64 first, __u64 second, hawk_two_words* words) {
  return first % 64 < 48 && first % 8 == 0 && second % 8 == 0 &&
         hawk_stack_word(reader->thread, first, &words->first) &&
         hawk_stack_word(reader->thread, second, &words->second);
}

int hawk_walk_plainly(hawk_thread* thread);

__u32 hawk_max_depth() { return current_max_depth; }

int hawk_step_unruled(hawk_thread* thread, __u32 kind);

}  // namespace

#define HAWK_GLOBAL static
#include "bpf/unwind.h"

namespace {

int hawk_walk_plainly(hawk_thread* thread) { return hawk_take_plain_steps(thread, hawk_reader{thread}); }

int hawk_step_unruled(hawk_thread* thread, __u32) { return thread->may_guess ? HAWK_STEP_GUESS : HAWK_STEP_NONE; }

}  // namespace

namespace hawk {

std::uint32_t host_rule_number(const HostTables& tables, std::uint64_t address) {
  const auto after =
      std::upper_bound(tables.ranges.begin(), tables.ranges.end(), address,
                       [](std::uint64_t wanted, const hawk_code_range& range) { return wanted < range.start; });
  if (after == tables.ranges.begin()) return HAWK_RULE_NO_CODE;
  const hawk_code_range& range = *(after - 1);
  if (address >= range.end) return HAWK_RULE_NO_CODE;
  if (!range.row_count) return HAWK_RULE_NO_TABLE;
  const std::span<const hawk_row> rows = tables.rows.subspan(range.first_row, range.row_count);
  const std::uint64_t offset = address - range.base;
  const auto row =
      std::upper_bound(rows.begin(), rows.end(), offset,
                       [](std::uint64_t wanted, const hawk_row& candidate) { return wanted < candidate.offset; });
  return row == rows.begin() ? static_cast<std::uint32_t>(HAWK_RULE_GAP) : (row - 1)->rule;
}

HostWalk walk_on_host(const HostTables& tables, const StackMemory& stack, const HostRegisters& registers,
                      std::uint32_t max_depth, hawk_unwind mode) {
  HostWalk walk;
  hawk_thread thread{};
  thread.result = current_result = &walk;
  thread.tables = current_tables = &tables;
  thread.stack = &stack;
  thread.may_guess = mode == HAWK_UNWIND_AUTO;
  current_max_depth = max_depth;
  hawk_begin_walk(&thread, hawk_hash_start(0), registers.pc, registers.sp, registers.fp, 0);
  while (thread.walk.depth && hawk_walk_on(&thread)) {
  }
  walk.frames.assign(thread.frames, thread.frames + thread.walk.depth);
  walk.end = thread.walk.end;
  walk.is_guessed = thread.walk.is_guessed;
  return walk;
}

}  // namespace hawk
