/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Forgetting the blocks of replaced programs in buckets that are not locked. arena.h tells the whole.
 *
 * A bucket has 16 bits of the number of the program whose blocks it has, so that after 65,536 programs old blocks would be
 * taken for the current one's. Each exec sweeps a part of the table, so large that every page has had its turn after
 * HAWK_SWEEP_PROGRAMS: no bucket is ever so far behind that its epoch could be mistaken for that of a newer one. */
#ifndef HAWKTRACE_LIVE_SWEEP_H
#define HAWKTRACE_LIVE_SWEEP_H

#include "bpf/live/buckets.h"

/* A quarter of the distance at which older and newer cannot be told apart. */
#define HAWK_SWEEP_PROGRAMS (1u << 13)

struct hawk_sweep {
	__u32 page;
	__u32 epoch;
};

static long hawk_sweep_bucket(__u32 number, void *context)
{
	const struct hawk_sweep *sweep = (const struct hawk_sweep *)context;
	hawk_bucket_ref bucket = &hawk_arena_page(sweep->page)->buckets[number & (HAWK_PAGE_BUCKETS - 1)];

	hawk_preempt_disable();
	if (hawk_lock(&bucket->lock)) {
		hawk_use_bucket(bucket, sweep->epoch);
		hawk_unlock(&bucket->lock);
	}
	hawk_preempt_enable();
	return 0;
}

static long hawk_sweep_page(__u32 number, void *context)
{
	struct hawk_sweep *sweep = (struct hawk_sweep *)context;
	struct hawk_arena_header __arena *header = hawk_header();
	__u32 next = header->next_swept;

	(void)number;
	if (next >= hawk_geometry_pages(hawk_geometry_unpack(hawk_load(&header->geometry))))
		next = 0;
	header->next_swept = next + 1;
	sweep->page = next;
	HAWK_REPEAT(HAWK_PAGE_BUCKETS, hawk_sweep_bucket, sweep);
	return 0;
}

/* Due once for every program that the process begins to run. */
HAWK_INLINE void hawk_sweep_some(void)
{
	__u32 pages = hawk_geometry_pages(hawk_geometry_unpack(hawk_load(&hawk_header()->geometry)));
	struct hawk_sweep sweep = { .page = 0, .epoch = hawk_current_epoch() };

	HAWK_REPEAT(pages / HAWK_SWEEP_PROGRAMS + 1, hawk_sweep_page, &sweep);
}

#endif
