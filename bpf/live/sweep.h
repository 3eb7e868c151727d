/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Removing the blocks of programs that have ended. They do no harm, but take room; so user space has them removed when it
 * next comes by, and steps of growth drop those that they meet. arena.h describes all of it. */
#ifndef HAWKTRACE_LIVE_SWEEP_H
#define HAWKTRACE_LIVE_SWEEP_H

#include "bpf/live/requests.h"

/* The page that is swept. */
struct hawk_sweep {
	__u32 page;
	__u32 pages;
};

/* A look without the lock: what is found is removed by what it is, and only if it still is. */
static long hawk_sweep_slot(__u32 number, void *context)
{
	const struct hawk_sweep *sweep = (const struct hawk_sweep *)context;
	hawk_bucket_ref bucket = &hawk_arena_page(sweep->page)->buckets[number / HAWK_BUCKET_SLOTS & (HAWK_PAGE_BUCKETS - 1)];
	__u32 slot = number % HAWK_BUCKET_SLOTS, low = hawk_load(&bucket->low[slot]);
	__u32 high_and_stack = hawk_load(&bucket->high_and_stack[slot]);
	__u32 program = low ? hawk_slot_program(high_and_stack) : 0;

	if (!low || hawk_program_lives(program))
		return 0;
	struct hawk_request request = hawk_take_of(hawk_slot_address(low, high_and_stack), program);

	hawk_do_slowly(&request);
	return 0;
}

static long hawk_sweep_page(__u32 number, void *context)
{
	struct hawk_sweep *sweep = (struct hawk_sweep *)context;

	if (number >= sweep->pages)
		return 1;
	sweep->page = number;
	HAWK_REPEAT(HAWK_PAGE_SLOTS, hawk_sweep_slot, sweep);
	return 0;
}

/* Due once programs have ended. What a step of growth or of shrinking moves meanwhile is alive. */
HAWK_INLINE void hawk_sweep_all(void)
{
	struct hawk_sweep sweep = { .page = 0,
				    .pages = hawk_geometry_pages(hawk_geometry_unpack(hawk_load(&hawk_header()->geometry))) };

	HAWK_REPEAT(sweep.pages, hawk_sweep_page, &sweep);
}

#endif
