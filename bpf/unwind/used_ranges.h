/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Which code ranges cached rules were taken from: the only ones that have to be looked at again when mappings have changed.
 * Pure: compiled for the kernel and for the host's tests, which run it on threads.
 *
 * A cached rule bears the generation in which its walk began, and counts in no other. So the list and the generation must
 * change together, or a rule could count whose range is not looked at: they are one word. The rules for the two sides:
 *
 *   who caches    notes the range, then learns the version of the mappings, then finds out whether the range holds
 *   who settles   learns the version, then reads the word, then looks at the ranges in the list
 *
 * Whatever was noted after the word was read has thus been found to hold with this version or a later one. */
#ifndef HAWKTRACE_USED_RANGES_H
#define HAWKTRACE_USED_RANGES_H

#include "bpf/types.h"

/* Ranges that are looked at again. A stack passes through three to ten files. */
#define HAWK_MAX_USED_RANGES 64u

struct hawk_used_ranges {
	__u64 turn;               /* generation << 32 | entries taken; more than there are: not all ranges are in the list */
	__u64 entries[HAWK_MAX_USED_RANGES]; /* generation << 32 | index; of another generation: not written yet */
};

#define HAWK_GENERATION_SHIFT 32

/* The next generation, of all targets together, from what counts them. */
static inline __attribute__((always_inline)) __u32 hawk_next_generation(__u32 *begun)
{
	return __sync_fetch_and_add(begun, 1) + 1;
}

static inline __attribute__((always_inline)) __u32 hawk_generation_of(__u64 turn)
{
	return (__u32)(turn >> HAWK_GENERATION_SHIFT);
}

static inline __attribute__((always_inline)) __u32 hawk_used_count(__u64 turn)
{
	return (__u32)turn;
}

static inline __attribute__((always_inline)) __u64 hawk_used_turn(const struct hawk_used_ranges *used)
{
	return *(const volatile __u64 *)&used->turn;
}

/* Attempts to begin a generation. Each that fails has met a range that was noted meanwhile, of which there are few. */
#define HAWK_GENERATION_ATTEMPTS 8

/* Makes everything void that was cached since `turn` was read or before, unless that has been done meanwhile. `next`: a generation
 * that no other has begun: targets share the cache. False: ranges go on being noted, and it was not done. */
static inline __attribute__((always_inline)) int hawk_begin_generation(struct hawk_used_ranges *used, __u64 turn, __u32 next)
{
	for (int attempt = 0; attempt < HAWK_GENERATION_ATTEMPTS; attempt++) {
		__u64 found = __sync_val_compare_and_swap(&used->turn, turn, (__u64)next << HAWK_GENERATION_SHIFT);

		if (found == turn || hawk_generation_of(found) != hawk_generation_of(turn))
			return 1;
		turn = found;
	}
	return 0;
}

/* Before any rule from this range is cached. */
static inline __attribute__((always_inline)) void hawk_note_used_range(struct hawk_used_ranges *used, __u32 index)
{
	__u64 turn = __sync_fetch_and_add(&used->turn, 1);
	__u32 at = hawk_used_count(turn);

	if (at < HAWK_MAX_USED_RANGES)
		*(volatile __u64 *)&used->entries[at] = (__u64)hawk_generation_of(turn) << HAWK_GENERATION_SHIFT | index;
}

/* Whether all ranges used are in the list. */
static inline __attribute__((always_inline)) int hawk_knows_used_ranges(__u64 turn)
{
	return hawk_used_count(turn) <= HAWK_MAX_USED_RANGES;
}

/* The index of the range in this entry; below 0: it is not written yet, or the list has become of no use. */
static inline __attribute__((always_inline)) __s64 hawk_used_range(const struct hawk_used_ranges *used, __u32 entry, __u64 turn)
{
	__u64 noted = *(const volatile __u64 *)&used->entries[entry & (HAWK_MAX_USED_RANGES - 1)];

	return hawk_generation_of(noted) == hawk_generation_of(turn) ? (__s64)(__u32)noted : -1;
}

#endif
