/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The code ranges that user space has announced: which one an address lies in, whether it still holds, and until when a rule that was
 * taken from it may be cached. Compiled for the kernel, and for the host, where tests run it on threads beside the code of user
 * space that writes (tests/unit/tracer/code_ranges_world.h).
 *
 * What each of the two worlds provides (mappings.bpf.h and rules.bpf.h, that file): `state`, target_at, target_of, `code_ranges`,
 * `code_range_states` and `unwind_cache` as in maps.bpf.h, bpf_loop, HAWK_GLOBAL before functions that the verifier shall check once, and
 *
 *     hawk_mappings_version(thread)         changes with the process's mappings and with what user space has said; never 0
 *     hawk_range_holds(index)               1: the kernel has mapped what the range says; 0: it has not; -HAWK_EBUSY: not to be
 *                                           found out just now
 *     hawk_search_rows(range, address)      number of the rule for an address by a range's rows
 *     hawk_search_elsewhere(address, generation)
 *                                           the same for an address in no range that holds
 *
 * As long as the version stands still, what was found to hold does. Once it has moved, every range in use is looked at again
 * (hawk_settle_mappings): user space hears of a new mapping a moment after it was made, and of one that is gone not at all; both
 * would be too late. Code that a frame of the current thread will return to is not unmapped meanwhile, by no program that
 * lives: it is enough to look when the walk begins. */
#ifndef HAWKTRACE_CODE_RANGES_H
#define HAWKTRACE_CODE_RANGES_H

#include "bpf/layout.h"
#include "bpf/unwind/rule_cache.h"

#define HAWK_EBUSY 16

#ifdef __bpf__
#define HAWK_NOT_UNROLLED _Pragma("clang loop unroll(disable)")
#else
#define HAWK_NOT_UNROLLED
#endif

/* Loaded where it is written, and as often. */
#define HAWK_READ_ONCE(object) (*(const volatile __typeof__(object) *)&(object))

/* A version: 31 bits of the publication's number, the kernel's number, and one bit that is set. */
#define HAWK_PUBLISHED_SHIFT 33

/* The publication of ranges, by a version. */
static inline __attribute__((always_inline)) __u64 hawk_publication_in(__u64 version)
{
	return version >> HAWK_PUBLISHED_SHIFT;
}

static inline __attribute__((always_inline)) __u64 hawk_version_of(const struct hawk_target *target, __u32 kernels)
{
	__u64 published = HAWK_READ_ONCE(target->code_ranges) >> HAWK_RANGES_VERSION_SHIFT;

	return published << HAWK_PUBLISHED_SHIFT | (__u64)kernels << 1 | 1;
}

static inline __attribute__((always_inline)) struct hawk_range_state *hawk_range_state_at(__u32 index)
{
	return &code_range_states[index & (2 * HAWK_MAX_CODE_RANGES - 1)];
}

/* Finds out whether a range holds with the mappings of `version`: as hawk_range_holds does, but at most once for each. */
static inline __attribute__((always_inline)) int hawk_check_range(struct hawk_target *target, __u32 index, __u64 version)
{
	struct hawk_range_state *range = hawk_range_state_at(index);
	__u64 held_at = HAWK_READ_ONCE(range->held_at);
	int holds;

	if (held_at == HAWK_RANGE_IS_DEAD)
		return 0;
	if (held_at == version)
		return 1;
	holds = hawk_range_holds(index);
	if (holds == 1)
		range->held_at = version;
	if (!holds) {
		range->held_at = HAWK_RANGE_IS_DEAD;
		target->code_ranges_stale = 1;
	}
	return holds;
}

struct hawk_settling {
	__u64 version;
	__u64 turn;
	__u64 program;            /* of which target */
	__u32 is_busy;
	__u32 is_void;            /* what was cached of the ranges in the list no longer counts */
};

static long hawk_settle_range(__u32 entry, struct hawk_settling *settling)
{
	struct hawk_target *target = target_at((__u32)settling->program);

	if (entry >= hawk_used_count(settling->turn))
		return 1;
	__s64 index = hawk_used_range(&target->used_ranges, entry, settling->turn);
	int holds = index < 0 ? 0 : hawk_check_range(target, (__u32)index, settling->version);

	if (holds == 1)
		return 0;
	settling->is_busy = holds < 0;
	settling->is_void = !holds;
	return 1;
}

/* Looks at a target's ranges in use again, so that cached rules count with the mappings of `version`; false: that was not possible.
 * What was cached of ranges that were announced before, or that are not all known, no longer counts. Not static: checked once by
 * the verifier. */
HAWK_GLOBAL int hawk_settle_mappings(__u32 program, __u64 version)
{
	struct hawk_target *target = target_at(program);
	__u64 turn = hawk_used_turn(&target->used_ranges);
	__u64 published_before = hawk_publication_in(HAWK_READ_ONCE(target->settled_version));
	struct hawk_settling settling = {
		.version = version,
		.turn = turn,
		.program = program,
		.is_busy = 0,
		.is_void = hawk_publication_in(version) != published_before || !hawk_knows_used_ranges(turn),
	};

	if (!settling.is_void)
		bpf_loop(HAWK_MAX_USED_RANGES, hawk_settle_range, &settling, 0);
	/* Also if it was marked already: the one that marked it may be interrupted here. */
	if (settling.is_void && !hawk_begin_generation(&target->used_ranges, turn, hawk_next_generation(&state.rule_generations)))
		return 0;
	/* Once user space has announced others, it may write where those are that were looked at. */
	if (settling.is_busy || hawk_publication_in(hawk_version_of(target, 0)) != hawk_publication_in(version))
		return 0;
	target->settled_version = version;
	return 1;
}

/* The generation that cached rules must have in a walk that begins; 0: none can be used. */
static inline __attribute__((always_inline)) __u32 hawk_rule_generation(const struct hawk_thread *thread)
{
	struct hawk_target *target = target_of(thread);
	__u64 version = hawk_mappings_version(thread);
	__u32 generation;

	if (version != HAWK_READ_ONCE(target->settled_version) && !hawk_settle_mappings(program_of(thread), version))
		return 0;
	generation = hawk_generation_of(hawk_used_turn(&target->used_ranges));
	if (hawk_may_cache(generation, HAWK_READ_ONCE(state.cache_cleared)))
		return generation;
	target->code_ranges_stale = 1;
	return 0;
}

/* The first step of a binary search that is enough: half of what it may have to search. */
#define HAWK_RANGE_SEARCH_STEP (HAWK_MAX_CODE_RANGES / 2)

/* 1 if a < b, otherwise 0; both below 2^63. Without a branch, of which the verifier would follow both ways in every round of
 * a search, and learn a little more of the numbers each time, so that no two ways are ever alike to it. */
static inline __attribute__((always_inline)) __u64 hawk_is_less(__u64 a, __u64 b)
{
	__u64 less = a - b;

	/* Or clang makes comparisons of it, and masks, for whose two values the verifier forks as well. */
	__asm__ volatile("" : "+r"(less));
	less >>= 63;
	__asm__ volatile("" : "+r"(less));
	return less;
}

/* `index`, as the verifier of 6.1 wants to see it bounded: right before it is used. */
static inline __attribute__((always_inline)) __u64 hawk_range_index(__u64 index)
{
	__asm__ volatile("" : "+r"(index));
	return index & (2 * HAWK_MAX_CODE_RANGES - 1);
}

/* Index of the range in which `address` lies, of those that `ranges` says; HAWK_NO_RANGE: none. */
#define HAWK_NO_RANGE (~0u)
static inline __attribute__((always_inline)) __u32 hawk_find_range(__u64 ranges, __u64 address)
{
	__u32 first = hawk_ranges_first(ranges);
	__u64 count = hawk_ranges_count(ranges), passed = 0;

	/* How many end at or below the address. */
	HAWK_NOT_UNROLLED
	for (__u32 step = HAWK_RANGE_SEARCH_STEP; step; step >>= 1) {
		__u64 last = hawk_range_index(first + passed + step - 1);
		__u64 stays = hawk_is_less(address, code_ranges[last].end) | hawk_is_less(count, passed + step);

		passed = (passed + step * (stays ^ 1)) & (HAWK_MAX_CODE_RANGES - 1);
	}
	__u64 index = hawk_range_index(first + passed);

	if (hawk_is_less(passed, count) && !hawk_is_less(address, code_ranges[index].start) && hawk_is_less(address, code_ranges[index].end))
		return (__u32)index;
	return HAWK_NO_RANGE;
}

/* Whether a range from which a rule shall be taken, and cached in this generation, holds: as hawk_check_range. In this order:
 * see used_ranges.h; and a reader that sees the mark may rely on the list. */
static inline __attribute__((always_inline)) int hawk_use_range(const struct hawk_thread *thread, __u32 index, __u32 generation)
{
	struct hawk_range_state *range = hawk_range_state_at(index);
	struct hawk_target *target = target_of(thread);

	if (HAWK_READ_ONCE(range->used_in) != generation) {
		hawk_note_used_range(&target->used_ranges, index);
		range->used_in = generation;
	}
	return hawk_check_range(target, index, hawk_mappings_version(thread));
}

/* Searches for the rule for an address, and caches it. */
static inline __attribute__((always_inline)) __u32 hawk_search_rule(const struct hawk_thread *thread, __u64 address,
								     __u32 generation)
{
	struct hawk_target *target = target_of(thread);
	__u64 ranges = HAWK_READ_ONCE(target->code_ranges);
	__u32 index = hawk_find_range(ranges, address), number;
	int holds;

	__sync_fetch_and_add(&target->unwind_misses, 1);
	if (index == HAWK_NO_RANGE)
		return (__u32)hawk_search_elsewhere(address, generation);
	holds = hawk_use_range(thread, index, generation);
	if (holds < 0)
		return HAWK_RULE_CHANGING;
	if (!holds)
		return (__u32)hawk_search_elsewhere(address, generation);
	number = (__u32)hawk_search_rows(&code_ranges[hawk_range_index(index)], address);
	/* They were given up, and may have been written to, while they were read. */
	if (HAWK_READ_ONCE(target->code_ranges) != ranges)
		return (__u32)hawk_search_elsewhere(address, generation);
	if (number < HAWK_MAX_RULES)
		hawk_cache_rule(unwind_cache, address, generation, number);
	return number;
}

#endif
