/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* How the arena's live table keeps a block: 14 bytes in a bucket of two cache lines. Pure: compiled for the kernel and
 * for the host's tests. */
#ifndef HAWKTRACE_LIVE_BUCKET_H
#define HAWKTRACE_LIVE_BUCKET_H

#include "bpf/layout.h"
#include "bpf/live/geometry.h"
#include "bpf/types.h"

#define HAWK_BUCKET_SLOTS 9
#define HAWK_PAGE_BUCKETS 32
/* Buckets of its page that an address may be in: its home, and three others for when that is full. */
#define HAWK_BUCKET_CHOICES 4

struct hawk_bucket {
	__u8 lock_and_displaced;   /* HAWK_LOCKED, and how many blocks have their home here and live in another bucket of the page */
	__u8 touched;              /* always 0: written to have the bucket fetched into the cache */
	__u16 born_high[HAWK_BUCKET_SLOTS];
	__u32 low[HAWK_BUCKET_SLOTS]; /* 0: free slot */
	__u32 high_and_stack[HAWK_BUCKET_SLOTS];
	__u32 size_and_born[HAWK_BUCKET_SLOTS]; /* the size, then the lower bits of when it was born */
};

/* Of the first byte: taken by exchanging the word that it is in (buckets.h). */
#define HAWK_LOCKED 0x80u
/* All slots of the other choices are fewer. */
#define HAWK_DISPLACED_MASK 0x7fu

struct hawk_live_page {
	struct hawk_bucket buckets[HAWK_PAGE_BUCKETS];
};

/* A block as a slot holds it. */
struct hawk_slot {
	__u32 low;                 /* address bits 3 to 34 */
	__u32 size_bytes;
	__u32 high_and_stack;      /* address bits 35 to 46, then the stack number, which says whose block it is */
	__u32 born;                /* a stamp (clock.h) */
};

#define HAWK_SLOT_SIZE_BITS 24
#define HAWK_SLOT_SIZE_MASK ((1u << HAWK_SLOT_SIZE_BITS) - 1)
/* Bits of a stamp that are beside the size. */
#define HAWK_SLOT_BORN_BITS (32 - HAWK_SLOT_SIZE_BITS)

#define HAWK_SLOT_STACK_BITS 20
#define HAWK_SLOT_STACK_MASK ((1u << HAWK_SLOT_STACK_BITS) - 1)

/* Whether a block at `address` can be in the table at all. A few cannot: beyond 47 bits (five-level paging, only on demand
 * of the program), not aligned to 8 (no allocator does that), or at a multiple of 32 GiB (its low part would be 0). */
static inline __attribute__((always_inline)) int hawk_slot_fits_address(__u64 address)
{
	return !(address >> 47) && !(address & 7) && (__u32)(address >> 3) != 0;
}

/* Whether the table can hold this block: not one of 16 MiB or more. A gigabyte of memory has 64 of those at most, and each is
 * worth thousands of page faults to its program: the hash map does for them. */
static inline __attribute__((always_inline)) int hawk_slot_fits(__u64 address, const struct hawk_block *block)
{
	return hawk_slot_fits_address(address) && !(block->size_bytes >> HAWK_SLOT_SIZE_BITS) && !(block->stack >> HAWK_SLOT_STACK_BITS);
}

static inline __attribute__((always_inline)) struct hawk_slot hawk_slot_pack(__u64 address, const struct hawk_block *block)
{
	struct hawk_slot slot = {
		.low = (__u32)(address >> 3),
		.size_bytes = (__u32)block->size_bytes,
		.high_and_stack = (__u32)(address >> 35) << HAWK_SLOT_STACK_BITS | block->stack,
		.born = (__u32)block->born,
	};

	return slot;
}

static inline __attribute__((always_inline)) __u64 hawk_slot_address(__u32 low, __u32 high_and_stack)
{
	return (__u64)(high_and_stack >> HAWK_SLOT_STACK_BITS) << 35 | (__u64)low << 3;
}

/* What is in a slot of a bucket beside address and stack. */
static inline __attribute__((always_inline)) __u32 hawk_size_of_pair(__u32 size_and_born)
{
	return size_and_born & HAWK_SLOT_SIZE_MASK;
}

static inline __attribute__((always_inline)) __u32 hawk_born_of_pair(__u32 size_and_born, __u16 born_high)
{
	return (__u32)born_high << HAWK_SLOT_BORN_BITS | size_and_born >> HAWK_SLOT_SIZE_BITS;
}

static inline __attribute__((always_inline)) __u32 hawk_home_bucket(__u64 hash)
{
	return hash >> HAWK_HOME_SHIFT & (HAWK_PAGE_BUCKETS - 1);
}

/* Bucket `choice` of those that an address may be in, its home among them; in ascending order, in which they are locked: each is of
 * another quarter of the page. Where the others lie in theirs depends on one bit of the hash more than where the home does: of the
 * blocks of one home, half have these and half have those. */
static inline __attribute__((always_inline)) __u32 hawk_bucket_choice(__u64 hash, __u32 choice)
{
	const __u32 in_quarter = HAWK_PAGE_BUCKETS / HAWK_BUCKET_CHOICES, home = hawk_home_bucket(hash);
	const __u32 beside = (__u32)(hash >> HAWK_BESIDE_SHIFT);
	/* Without a branch, which the verifier would follow both ways for each choice. */
	const __u32 is_home = (__u32)(((__u64)(choice ^ home / in_quarter) - 1) >> 63);

	return (beside ^ ((beside ^ home) & -is_home)) % in_quarter + choice * in_quarter;
}

#endif
