/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The live table's two operations, and the counters that must agree with it: for each stack, allocated - freed is the
 * sum over the blocks in the table. */
#ifndef HAWKTRACE_LIVE_TABLE_BPF_H
#define HAWKTRACE_LIVE_TABLE_BPF_H

#include "bpf/maps.bpf.h"

#define HAWK_E2BIG 7
#define HAWK_EEXIST 17

static __always_inline __u64 live_key(__u64 address)
{
	return (__u64)state.exec_epoch << HAWK_EPOCH_SHIFT | address;
}

/* Removes the block at `address` and stores what it was into `taken`. False: not in the table. The copy comes first: an
 * element may belong to another key as soon as it is deleted. */
static __always_inline bool live_take(__u64 address, struct hawk_block *taken)
{
	__u64 key = live_key(address);
	struct hawk_block *found = bpf_map_lookup_elem(&live_blocks, &key);

	if (!found)
		return false;
	*taken = *found;
	return bpf_map_delete_elem(&live_blocks, &key) == 0;
}

static __always_inline void book_allocated_on(__u32 stack, __u64 size_bytes)
{
	struct hawk_counters *c = counters_of(stack);

	if (!c)
		return;
	__sync_fetch_and_add(&c->allocated_bytes, size_bytes);
	__sync_fetch_and_add(&c->allocated_count, 1);
}

static __always_inline void book_freed_on(__u32 stack, __u64 size_bytes)
{
	struct hawk_counters *c = counters_of(stack);

	if (!c)
		return;
	__sync_fetch_and_add(&c->freed_bytes, size_bytes);
	__sync_fetch_and_add(&c->freed_count, 1);
}

static __always_inline void book_freed(const struct hawk_block *block)
{
	book_freed_on(block->stack, block->size_bytes);
}

static __always_inline void book_untraced_free(void)
{
	struct hawk_counters *c = counters_of(HAWK_UNTRACED);

	if (c)
		__sync_fetch_and_add(&c->freed_count, 1);
}

/* Puts a block into the table. An entry that is already there belongs to a block whose free went by unseen: it is
 * retired, and counted. False: not kept, counted under its cause. */
static __always_inline bool live_insert(__u64 address, const struct hawk_block *block)
{
	__u64 key = live_key(address);
	long error = bpf_map_update_elem(&live_blocks, &key, block, BPF_NOEXIST);

	if (error == -HAWK_EEXIST) {
		struct hawk_block stale;

		if (live_take(address, &stale))
			book_freed(&stale);
		count_loss(HAWK_LOSS_LIVE_OVERWRITTEN);
		error = bpf_map_update_elem(&live_blocks, &key, block, BPF_NOEXIST);
	}
	if (!error)
		return true;
	count_loss(error == -HAWK_E2BIG ? HAWK_LOSS_LIVE_TABLE_FULL : HAWK_LOSS_LIVE_TABLE_ERROR);
	return false;
}

/* Books a block that the program has just been given. */
static __always_inline void live_add(__u64 address, const struct hawk_block *block)
{
	if (live_insert(address, block))
		book_allocated_on(block->stack, block->size_bytes);
}

#endif
