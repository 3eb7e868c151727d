/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Fetching buckets into the caches before they are needed. A program that builds a list, or takes it apart, asks for one block after the
 * other, each next to the last, and the kernel's way back into the program waits until all that was begun is done: each would wait for
 * memory alone. So where a thread goes on from one block to the next, the buckets of the next 2 KiB are fetched at once, in the time that
 * one of them takes. arena.h describes the table. */
#ifndef HAWKTRACE_LIVE_FETCH_H
#define HAWKTRACE_LIVE_FETCH_H

#include "bpf/live/buckets.h"
#include "bpf/live/requests.h"

/* What is fetched at once. */
#define HAWK_FETCHED_BYTES_LOG2 11
#define HAWK_FETCHED_AREAS (1u << (HAWK_FETCHED_BYTES_LOG2 - HAWK_AREA_BYTES_LOG2))
/* Blocks that are further apart than this are not next to each other: it is not known which bucket is needed next. */
#define HAWK_RUN_STEP_BYTES 256ull
/* Buckets, next to each other, that are home to the blocks of an area. */
#define HAWK_AREA_BUCKETS \
	(1u << (HAWK_AREA_BYTES_LOG2 - HAWK_BLOCKS_OF_AREA_APART_LOG2 - (HAWK_HOME_SHIFT - HAWK_BESIDE_SHIFT)))

/* What is kept of a thread's last block is its address, and in a bit that addresses do not have whether the one before was next to it:
 * two blocks side by side, among others that are not, are no run. */
#define HAWK_RUN_GOES_ON 1ull
/* What is different in addresses within HAWK_BLOCKS_OF_AREA_APART_LOG2 (hawk_area_of). */
#define HAWK_PLACE_IN_PART ((1ull << HAWK_BLOCKS_OF_AREA_APART_LOG2) - 8)

HAWK_INLINE __u64 hawk_next_in_run(__u64 last, __u64 address)
{
	const __u64 further = address - (last & ~HAWK_RUN_GOES_ON) + HAWK_RUN_STEP_BYTES;

	return (address & ~HAWK_RUN_GOES_ON) | (further <= 2 * HAWK_RUN_STEP_BYTES ? HAWK_RUN_GOES_ON : 0);
}

/* Whether a thread whose last block was `last`, and whose block is `now`, has gone on to memory of which nothing is fetched. */
HAWK_INLINE int hawk_runs_on(__u64 last, __u64 now)
{
	return (last & now & HAWK_RUN_GOES_ON) && (last ^ now) >> HAWK_FETCHED_BYTES_LOG2;
}

/* The first of the buckets that are home to the blocks of an area, one of which has this hash: they are next to each other. */
HAWK_INLINE __u32 hawk_first_home_of_area(__u64 hash)
{
	return hawk_home_bucket(hash) & ~(HAWK_AREA_BUCKETS - 1);
}

/* Begins to fetch the buckets of an area, of which this is the first: without a loop, each round of which the verifier follows. */
HAWK_INLINE void hawk_fetch_area(hawk_bucket_ref first)
{
	const volatile __u64 __arena *words = (const volatile __u64 __arena *)first;

#ifdef __clang__
#pragma clang loop unroll(full)
#endif
	for (__u32 word = 0; word < HAWK_AREA_BUCKETS * sizeof(*first) / sizeof(*words); word += HAWK_WORDS_IN_CACHE_LINE)
		(void)words[word];
}

/* The buckets of what blocks may be in the 2 KiB around `address`, of those that lie as it does in their 32 bytes (geometry.h). Not static:
 * checked once by the verifier. */
__attribute__((noinline)) int hawk_fetch_around(__u64 address, __u32 program)
{
	if (!hawk_has_arena())
		return 0;
	const __u64 geometry = hawk_load(&hawk_header()->geometry);
	const __u64 first = address >> HAWK_FETCHED_BYTES_LOG2 << HAWK_FETCHED_BYTES_LOG2 |
			    (address & HAWK_PLACE_IN_PART);

#ifdef __clang__
#pragma clang loop unroll(disable)
#endif
	for (__u32 area = 0; area < HAWK_FETCHED_AREAS; area++) {
		const __u64 hash = hawk_live_hash(first + ((__u64)area << HAWK_AREA_BYTES_LOG2), program);

		hawk_fetch_area(&hawk_page_at(hash, geometry)->buckets[hawk_first_home_of_area(hash)]);
	}
	return 0;
}

#endif
