/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Where things lie in the arena, and how full its live table may be. Read by both worlds. */
#ifndef HAWKTRACE_ARENA_LAYOUT_H
#define HAWKTRACE_ARENA_LAYOUT_H

#include "bpf/live/bucket.h"

/* Programs need nothing of an address but its low 32 bits; user space sees the arena at this multiple of 4 GiB, which is
 * clear of what Linux and the sanitizers use on x86-64. A second arena of one user lies 4 GiB above the first. */
#define HAWK_ARENA_USER_ADDRESS (1ull << 45)
#define HAWK_ARENA_PAGE_BYTES 4096ull
#define HAWK_CACHE_LINE_BYTES 64
/* Pages from its start on: the header, and the live table. */
#define HAWK_ARENA_HEADER_PAGE 0
#define HAWK_ARENA_LIVE_PAGE 256

#define HAWK_PAGE_SLOTS (HAWK_PAGE_BUCKETS * HAWK_BUCKET_SLOTS)
/* A step of growth is due when more than this share of the slots is taken. At 56 a block takes 14.2 / 0.56 = 25.4 bytes, and
 * one in 5,000 finds all its buckets full, because sets that wait for their step are fuller by up to a quarter; of blocks that are 32
 * bytes apart or less one in 200 (geometry.h). It then goes to the hash map. */
#define HAWK_FULL_PERCENT 56
/* Pages are given back when less than this share of the slots is taken: far enough below for no step to be undone soon. */
#define HAWK_SPARSE_PERCENT 40

#define HAWK_MAX_CPUS 4096

/* What one CPU did, on a cache line of its own. */
struct hawk_cpu_population {
	__s64 blocks;              /* inserted less taken here: their sum over all CPUs is what the table holds */
	__u64 insertions;
	__u64 pad_0[6];
};

/* In front of the pages. What is written often stands apart from what every event reads. */
struct hawk_arena_header {
	__u64 geometry;            /* hawk_geometry_pack */
	__u32 pages_ready;         /* pages that exist; raised by user space */
	__u32 cpus;                /* that this machine can have */
	__u64 pad_0[6];
	__u32 growing;             /* lock over changes of the geometry */
	__u32 short_of_pages;      /* growth was due, but its page did not exist */
	__u32 buckets_locked;      /* by the step of growth that is being made */
	__u32 pad_1;
	__u64 pad_2[6];
	struct hawk_cpu_population population[HAWK_MAX_CPUS];
};

#endif
