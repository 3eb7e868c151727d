#include "tests/unwinding/host_walk.h"

#include <algorithm>
#include <utility>

#include "bpf/layout.h"
#include "bpf/unwind/rule_cache.h"
#include "bpf/unwind/stack_hash.h"
#include "bpf/unwind/walk_state.h"

/// bpf/unwind/unwind.h is C and looks for these by name; they are this file's only.
struct hawk_thread {
  hawk_walk walk;
  __u64 frames[HAWK_MAX_FRAMES + HAWK_STEPS_AT_ONCE];
  __u32 known_generation;
  hawk_known_step known_steps[HAWK_KNOWN_STEPS];
  hawk_memos memos;
  __u64 page_in_view;
  __u64 words_in_view[512];
  std::vector<__u64> cache;  ///< empty: see hawk_cached_rule
  const hawk::HostTables* tables;
  const hawk::StackMemory* stack;
  hawk::HostWalk* result;
  __u32 max_depth;
  __u32 may_guess;
  bool has_asked;  ///< for the rule of the plain step that comes next
};

/// From where plain steps read the stack.
struct hawk_reader {
  __u64 origin;
  hawk_thread* thread;
};

namespace {

/// The one that is being walked.
thread_local hawk_thread* current = nullptr;

/// Without a cache every other address is "not cached", so that both ways are gone.
__u32 hawk_cached_rule(__u64 address, __u32 generation) {
  current->has_asked = true;
  if (!current->cache.empty()) return hawk_find_first_cached(current->cache.data(), address, generation);
  return address % 2 == 0 ? hawk::host_rule_number(*current->tables, address) : 0;
}

__u32 hawk_look_up_rule(hawk_thread* thread, __u64 address, __u32 generation) {
  const __u32 cached = thread->cache.empty() ? 0 : hawk_find_second_cached(thread->cache.data(), address, generation);
  if (cached) return cached;
  const __u32 number = hawk::host_rule_number(*thread->tables, address);
  if (!thread->cache.empty())
    hawk_cache_rule(thread->cache.data(), address, generation, number ? number : HAWK_RULE_NO_CODE_CACHED);
  return number;
}

const hawk_rule* hawk_rule_at(__u32 number) {
  ++current->result->rules[current->tables->rules[number].kind];
  return &current->tables->rules[number];
}

bool hawk_stack_word(hawk_thread* thread, __u64 address, __u64* word) {
  thread->result->reads.push_back(address);
  const std::optional<std::uint64_t> found = thread->stack->word(address);
  if (found) *word = *found;
  return found.has_value();
}

/// One in four frames is "not at hand", so that both ways are gone.
bool hawk_words_at_hand(const hawk_reader* reader, __u64 first, __u64 second, hawk_two_words* words) {
  const bool is_known = !std::exchange(reader->thread->has_asked, false);
  if (first % 64 >= 48 || first % 8 != 0 || second % 8 != 0 ||
      !hawk_stack_word(reader->thread, reader->origin + first, &words->first) ||
      !hawk_stack_word(reader->thread, reader->origin + second, &words->second))
    return false;
  reader->thread->result->known_steps += is_known;
  return true;
}

int hawk_walk_plainly(hawk_thread* thread);

__u32 hawk_max_depth() { return current->max_depth; }

/// Any key.
__u64 hawk_mixed(__u64 frame) { return hawk_mix_frame(0x0123456789abcdef, 0xfedcba9876543211, frame); }

__u64 hawk_trampoline();

__u64 hawk_replaced_return(hawk_thread* thread, __u64 slot, __u64 trampoline);

int hawk_step_unruled(hawk_thread* thread);

/// As in the kernel, what is not there can be shown too, and is 0.
int hawk_show_page(hawk_thread* thread, __u64 page) {
  thread->page_in_view = page;
  for (std::size_t i = 0; i < std::size(thread->words_in_view); ++i)
    thread->words_in_view[i] = thread->stack->word(page + i * sizeof(__u64)).value_or(0);
  return 1;
}

const void* hawk_view(const hawk_thread* thread) { return thread->words_in_view; }

__u64 hawk_word_in_view(const void* view, __u64 place) {
  return static_cast<const __u64*>(view)[place / sizeof(__u64)];
}

int hawk_view_is_true(const hawk_thread* thread) { return thread->page_in_view != 0; }

__u64 hawk_any_run_differs(hawk_thread* thread, hawk_memo* memo, __u32 run, __u64 first_block);

}  // namespace

#define HAWK_GLOBAL static
#include "bpf/unwind/memo.h"

namespace {

__u64 hawk_any_run_differs(hawk_thread* thread, hawk_memo* memo, __u32 run, __u64 first_block) {
  return hawk_run_differs(thread, memo, run, first_block, HAWK_MEMO_MOST_BLOCKS);
}

__u64 hawk_trampoline() { return current->tables->trampoline; }

__u64 hawk_replaced_return(hawk_thread* thread, __u64 slot, __u64 /*trampoline*/) {
  const auto replaced = thread->tables->replaced_returns.find(slot);
  return replaced == thread->tables->replaced_returns.end() ? 0 : replaced->second;
}

int hawk_walk_plainly(hawk_thread* thread) {
  thread->has_asked = false;
  const hawk_reader reader = {.origin = thread->walk.sp & ~0xfffULL, .thread = thread};
  // Each of the two ways, by how deep the walk is.
  switch (thread->walk.depth % 3) {
    case 0:
      return hawk_take_plain_steps(thread, reader);
    case 1:
      return hawk_take_plain_steps_in_one_loop(thread, reader, HAWK_STEPS_AT_ONCE);
    default:
      return hawk_take_plain_steps_in_one_loop(thread, reader, HAWK_STEPS_WHERE_RARE);
  }
}

int hawk_step_unruled(hawk_thread* thread) { return thread->may_guess ? HAWK_STEP_GUESS : HAWK_STEP_NONE; }

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

HostThread::HostThread() : HostThread(2 * HAWK_CACHE_SETS) {}
HostThread::HostThread(std::size_t cache_entries) : thread_(std::make_unique<hawk_thread>()) {
  thread_->cache.resize(cache_entries);
}
HostThread::HostThread(HostThread&&) noexcept = default;
HostThread::~HostThread() = default;

hawk_thread& HostThread::ready(const HostTables& tables, const StackMemory& stack, HostWalk& result) {
  current = thread_.get();
  thread_->result = &result;
  thread_->tables = &tables;
  thread_->stack = &stack;
  return *thread_;
}

HostWalk HostThread::walk(const HostTables& tables, const StackMemory& stack, const HostRegisters& registers,
                          std::uint32_t max_depth, hawk_unwind mode) {
  HostWalk walk;
  hawk_thread& thread = ready(tables, stack, walk);
  thread.max_depth = max_depth;
  thread.may_guess = mode == HAWK_UNWIND_AUTO;
  hawk_begin_walk(&thread, hawk_hash_start(0), registers.pc, registers.sp, registers.fp, tables.generation);
  while (thread.walk.depth && hawk_walk_on(&thread)) {
  }
  walk.frames.assign(thread.frames, thread.frames + thread.walk.depth);
  walk.end = thread.walk.end;
  walk.is_guessed = thread.walk.is_guessed;
  walk.hash = hawk_hash_end(hawk_hash_of_frames(&thread), &thread.walk);
  return walk;
}

void HostThread::remember(const HostTables& tables, const StackMemory& stack, const HostRegisters& registers,
                          const HostWalk& walk, std::uint32_t number) {
  HostWalk again;
  hawk_thread& thread = ready(tables, stack, again);
  hawk_begin_remembering(&thread, registers.pc, registers.sp, registers.fp);
  hawk_begin_walk(&thread, hawk_hash_start(0), registers.pc, registers.sp, registers.fp, thread.walk.generation);
  while (thread.walk.depth && hawk_remember_step(&thread)) {
  }
  hawk_end_remembering(&thread, walk.hash, number);
}

std::uint32_t HostThread::remembered(const HostTables& tables, const StackMemory& stack,
                                     const HostRegisters& registers) {
  HostWalk none;
  return hawk_remembered_number(&ready(tables, stack, none), registers.pc, registers.sp, registers.fp,
                                tables.generation);
}

std::uint32_t HostThread::remembered_at_hand(const HostTables& tables, const StackMemory& stack,
                                             const HostRegisters& registers) {
  HostWalk none;
  return hawk_number_at_hand(&ready(tables, stack, none), registers.pc, registers.sp, registers.fp, tables.generation);
}

void HostThread::forget_walks() { hawk_forget_walks(&thread_->memos); }

HostWalk walk_on_host(const HostTables& tables, const StackMemory& stack, const HostRegisters& registers,
                      std::uint32_t max_depth, hawk_unwind mode) {
  HostThread thread(0);
  return thread.walk(tables, stack, registers, max_depth, mode);
}

std::uint64_t hash_of(const HostWalk& walk) {
  std::uint64_t hash = hawk_hash_start(0);
  for (const std::uint64_t frame : walk.frames) hash = hawk_hash_frame(hash, hawk_mixed(frame));
  return hawk_hash_finish(hawk_hash_frame(hash, walk.end | std::uint64_t{walk.is_guessed} << 8));
}

bool is_same_stack(const HostWalk& walk, const HostWalk& other) {
  return walk.frames == other.frames && walk.end == other.end && walk.is_guessed == other.is_guessed &&
         walk.hash == other.hash;
}

}  // namespace hawk
