/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Steps by which the arena's live table grows and shrinks, a page at a time. arena.h describes all of it. */
#ifndef HAWKTRACE_LIVE_RESIZE_H
#define HAWKTRACE_LIVE_RESIZE_H

#include "bpf/live/requests.h"

/* One step: a set of pages gets or loses one. */
struct hawk_step {
	__u32 sets_log2;
	__u32 set;
	__u32 pages_before;
	__u32 pages_after;
};

HAWK_INLINE hawk_page_ref hawk_set_page(const struct hawk_step *step, __u32 position)
{
	return hawk_arena_page(hawk_page_of_set(step->set, position, step->sets_log2));
}

HAWK_INLINE hawk_bucket_ref hawk_set_bucket(const struct hawk_step *step, __u32 number)
{
	return &hawk_set_page(step, number / HAWK_PAGE_BUCKETS)->buckets[number % HAWK_PAGE_BUCKETS];
}

/* Buckets that one callback locks or unlocks. */
#define HAWK_BUCKETS_AT_ONCE 8

/* Tries to lock the next buckets of the set. How many are locked stands in the arena, because of a count on the stack the
 * verifier would follow every value. */
static long hawk_lock_in_set(__u32 attempt, void *context)
{
	struct hawk_step *step = (struct hawk_step *)context;
	struct hawk_arena_header __arena *header = hawk_header();
	__u32 locked = header->buckets_locked, buckets = step->pages_before * HAWK_PAGE_BUCKETS;

	(void)attempt;
#ifdef __clang__
#pragma clang loop unroll(disable)
#endif
	for (__u32 i = 0; i < HAWK_BUCKETS_AT_ONCE && locked < buckets; i++)
		locked += hawk_take_lock(hawk_lock_of(hawk_set_bucket(step, locked)));
	header->buckets_locked = locked;
	return locked == buckets;
}

static long hawk_unlock_in_set(__u32 number, void *context)
{
	struct hawk_step *step = (struct hawk_step *)context;
	__u32 first = number * HAWK_BUCKETS_AT_ONCE, locked = hawk_header()->buckets_locked;

#ifdef __clang__
#pragma clang loop unroll(disable)
#endif
	for (__u32 i = 0; i < HAWK_BUCKETS_AT_ONCE && first + i < locked; i++)
		hawk_unlock(hawk_lock_of(hawk_set_bucket(step, first + i)));
	return 0;
}

/* Bit i: slot i of the bucket holds a block that is not to stay there, because it belongs in another page of the set, or its program has
 * ended. Most stay: to look at all slots takes less than a callback for each block. Without branches, as hawk_slots_with_low. */
static __attribute__((noinline)) __u32 hawk_misplaced(hawk_bucket_ref bucket, __u32 position, const struct hawk_step *step)
{
	__u32 staying = 0;

#ifdef __clang__
#pragma clang loop unroll(disable)
#endif
	for (__u32 i = 0; i < HAWK_BUCKET_SLOTS; i++) {
		__u32 high_and_stack = bucket->high_and_stack[i], program = hawk_slot_program(high_and_stack);
		__u64 hash = hawk_live_hash(hawk_slot_address(bucket->low[i], high_and_stack), program);
		__u32 elsewhere = hawk_position_in_set(hash, step->sets_log2, step->pages_after) ^ position;

		staying |= (__u32)(((__u64)(elsewhere | hawk_program_gone(program)) - 1) >> 63) << i;
	}
	return ~(hawk_free_slots(bucket) | staying) & HAWK_ALL_SLOTS;
}

/* Blocks of one bucket, of which some are to be in another page of the set now. */
struct hawk_moves {
	struct hawk_step *step;
	hawk_page_ref page;        /* where they are */
	hawk_bucket_ref bucket;
	__u32 position;            /* of the page in its set */
	__u32 slots;               /* bit i: what is in slot i is to go */
};

/* One of them: it is dropped if its program has ended, and moved otherwise. */
static long hawk_move_one(__u32 number, void *context)
{
	struct hawk_moves *moves = (struct hawk_moves *)context;
	struct hawk_request request = {};
	struct hawk_choices to = {};
	__u32 at = hawk_lowest(moves->slots);
	__u64 address;

	(void)number;
	if (!moves->slots)
		return 1;
	moves->slots &= moves->slots - 1;
	hawk_get(moves->bucket, at, &request.slot);
	request.program = hawk_slot_program(request.slot.high_and_stack);
	address = hawk_slot_address(request.slot.low, request.slot.high_and_stack);
	request.hash = hawk_live_hash(address, request.program);
	__u32 position = hawk_position_in_set(request.hash, moves->step->sets_log2, moves->step->pages_after);
	int lives = hawk_program_lives(request.program);

	moves->bucket->low[at] = 0;
	hawk_bucket_ref home = &moves->page->buckets[hawk_home_bucket(request.hash)];

	hawk_count_displaced(home, -(home != moves->bucket));
	if (!lives) {
		hawk_own_population()->blocks--;
		return 0;
	}
	to.request = &request;
	to.page = hawk_set_page(moves->step, position);
	if (!hawk_put_in_choices(&to, &to.page->buckets[hawk_home_bucket(request.hash)])) {
		hawk_own_population()->blocks--;
		hawk_spill(address, &request.slot, request.program);
	}
	return 0;
}

static long hawk_empty_misplaced(__u32 number, void *context)
{
	struct hawk_step *step = (struct hawk_step *)context;
	struct hawk_moves moves = {};

	/* From the end that gets free, so that there is room for what moves. */
	if (step->pages_after > step->pages_before)
		number = step->pages_before * HAWK_PAGE_BUCKETS - 1 - number;
	moves.position = number / HAWK_PAGE_BUCKETS;
	moves.step = step;
	moves.page = hawk_set_page(step, moves.position);
	moves.bucket = &moves.page->buckets[number % HAWK_PAGE_BUCKETS];
	moves.slots = hawk_misplaced(moves.bucket, moves.position, step);
	if (moves.slots)
		HAWK_REPEAT(HAWK_BUCKET_SLOTS, hawk_move_one, &moves);
	return 0;
}

HAWK_INLINE struct hawk_step hawk_step_of(struct hawk_geometry g)
{
	struct hawk_step step = {};

	step.sets_log2 = g.sets_log2;
	step.set = g.next;
	return step;
}

/* The buckets of a page are going to be locked one after the other, and each lock would wait for memory alone. */
static long hawk_fetch_page(__u32 position, void *context)
{
	hawk_fetch_buckets(hawk_set_page((struct hawk_step *)context, position)->buckets, HAWK_PAGE_BUCKETS);
	return 0;
}

/* Makes the step and publishes `geometry`. The caller holds header->growing. False: nothing was changed. */
HAWK_INLINE int hawk_make_step(struct hawk_step *step, struct hawk_geometry geometry)
{
	struct hawk_arena_header __arena *header = hawk_header();
	__u32 buckets = step->pages_before * HAWK_PAGE_BUCKETS;
	int all_locked;

	HAWK_REPEAT(step->pages_before, hawk_fetch_page, step);
	hawk_preempt_disable();
	header->buckets_locked = 0;
	HAWK_REPEAT(HAWK_LOCK_ATTEMPTS, hawk_lock_in_set, step);
	all_locked = header->buckets_locked == buckets;
	if (all_locked) {
		HAWK_REPEAT(buckets, hawk_empty_misplaced, step);
		hawk_publish(&header->geometry, hawk_geometry_pack(geometry));
	}
	HAWK_REPEAT((header->buckets_locked + HAWK_BUCKETS_AT_ONCE - 1) / HAWK_BUCKETS_AT_ONCE, hawk_unlock_in_set, step);
	hawk_preempt_enable();
	return all_locked;
}

static long hawk_add_population(__u32 cpu, void *context)
{
	*(__s64 *)context += hawk_load(&hawk_header()->population[cpu & (HAWK_MAX_CPUS - 1)].blocks);
	return 0;
}

/* Whether `pages` pages with `blocks` blocks are fuller than `percent`. */
HAWK_INLINE int hawk_fuller_than(__s64 blocks, __u32 pages, __u32 percent)
{
	return blocks * 100 > (__s64)pages * HAWK_PAGE_SLOTS * percent;
}

HAWK_INLINE int hawk_grow(__s64 blocks)
{
	struct hawk_arena_header __arena *header = hawk_header();
	struct hawk_geometry g = hawk_geometry_unpack(hawk_load(&header->geometry));
	__u32 pages = hawk_geometry_pages(g);
	struct hawk_step step = hawk_step_of(g);

	if (!hawk_fuller_than(blocks, pages, HAWK_FULL_PERCENT))
		return 0;
	if (pages >= hawk_load(&header->pages_ready)) {
		header->short_of_pages = 1;
		return 0;
	}
	step.pages_before = g.set_pages;
	step.pages_after = g.set_pages + 1;
	return hawk_make_step(&step, hawk_geometry_grown(g));
}

HAWK_INLINE int hawk_shrink(__s64 blocks)
{
	struct hawk_geometry g = hawk_geometry_unpack(hawk_load(&hawk_header()->geometry));
	__u32 pages = hawk_geometry_pages(g);
	struct hawk_geometry less = hawk_geometry_shrunk(g);
	struct hawk_step step = hawk_step_of(less);

	if (pages <= hawk_geometry_pages(hawk_geometry_start()) || hawk_fuller_than(blocks, pages, HAWK_SPARSE_PERCENT))
		return 0;
	step.pages_before = less.set_pages + 1;
	step.pages_after = less.set_pages;
	return hawk_make_step(&step, less);
}

/* Makes a step of growth or of shrinking if one is due. Returns whether it did. */
HAWK_INLINE int hawk_resize(int grow)
{
	struct hawk_arena_header __arena *header = hawk_header();
	__s64 blocks = 0;
	int stepped;

	if (!hawk_try_lock(&header->growing))
		return 0;
	HAWK_REPEAT(header->cpus, hawk_add_population, &blocks);
	stepped = grow ? hawk_grow(blocks) : hawk_shrink(blocks);
	hawk_unlock(&header->growing);
	return stepped;
}

#endif
