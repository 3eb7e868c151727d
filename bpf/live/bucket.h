/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* How the arena's live table keeps a block: 12 bytes in a bucket of two cache lines. Pure: compiled for the kernel and
 * for the host's tests. */
#ifndef HAWKTRACE_LIVE_BUCKET_H
#define HAWKTRACE_LIVE_BUCKET_H

#include "bpf/layout.h"
#include "bpf/types.h"

#define HAWK_BUCKET_SLOTS 10
#define HAWK_PAGE_BUCKETS 32
/* Buckets of its page that an address may be in: its home, and three others for when that is full. */
#define HAWK_BUCKET_CHOICES 4

struct hawk_bucket {
	__u32 lock;                /* 0: free */
	__u8 displaced;            /* blocks that have their home here and live in another bucket of the page */
	__u8 pad_0[3];
	__u32 low[HAWK_BUCKET_SLOTS]; /* 0: free slot */
	__u32 size_bytes[HAWK_BUCKET_SLOTS];
	__u32 high_and_stack[HAWK_BUCKET_SLOTS];
};

struct hawk_live_page {
	struct hawk_bucket buckets[HAWK_PAGE_BUCKETS];
};

/* A block as a slot holds it. */
struct hawk_slot {
	__u32 low;                 /* address bits 3 to 34 */
	__u32 size_bytes;
	__u32 high_and_stack;      /* address bits 35 to 46, then the stack number, which says whose block it is */
};

#define HAWK_SLOT_STACK_BITS 20
#define HAWK_SLOT_STACK_MASK ((1u << HAWK_SLOT_STACK_BITS) - 1)

/* Whether a block at `address` can be in the table at all. A few cannot: beyond 47 bits (five-level paging, only on demand
 * of the program), not aligned to 8 (no allocator does that), or at a multiple of 32 GiB (its low part would be 0). */
static inline __attribute__((always_inline)) int hawk_slot_fits_address(__u64 address)
{
	return !(address >> 47) && !(address & 7) && (__u32)(address >> 3) != 0;
}

/* Whether the table can hold this block: not one of 4 GiB or more. */
static inline __attribute__((always_inline)) int hawk_slot_fits(__u64 address, const struct hawk_block *block)
{
	return hawk_slot_fits_address(address) && !(block->size_bytes >> 32) && !(block->stack >> HAWK_SLOT_STACK_BITS);
}

static inline __attribute__((always_inline)) struct hawk_slot hawk_slot_pack(__u64 address, const struct hawk_block *block)
{
	struct hawk_slot slot = {
		.low = (__u32)(address >> 3),
		.size_bytes = (__u32)block->size_bytes,
		.high_and_stack = (__u32)(address >> 35) << HAWK_SLOT_STACK_BITS | block->stack,
	};

	return slot;
}

static inline __attribute__((always_inline)) __u64 hawk_slot_address(__u32 low, __u32 high_and_stack)
{
	return (__u64)(high_and_stack >> HAWK_SLOT_STACK_BITS) << 35 | (__u64)low << 3;
}

static inline __attribute__((always_inline)) __u32 hawk_home_bucket(__u64 hash)
{
	return hash >> 17 & (HAWK_PAGE_BUCKETS - 1);
}

/* Bucket `choice` of those that an address may be in, its home among them; in ascending order, in which they are locked. */
static inline __attribute__((always_inline)) __u32 hawk_bucket_choice(__u64 hash, __u32 choice)
{
	const __u32 groups = HAWK_PAGE_BUCKETS / HAWK_BUCKET_CHOICES;

	return hawk_home_bucket(hash) % groups + choice * groups;
}

#endif
