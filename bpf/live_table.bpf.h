/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The live table's two operations, and the counters that must agree with it: for each stack, allocated - freed is the
 * sum over the blocks in the table. */
#ifndef HAWKTRACE_LIVE_TABLE_BPF_H
#define HAWKTRACE_LIVE_TABLE_BPF_H

#include "bpf/live_arena.bpf.h"
#include "bpf/maps.bpf.h"

#define HAWK_ENOENT 2
#define HAWK_E2BIG 7
#define HAWK_EEXIST 17

#define HAWK_DELETE_ATTEMPTS 8

static __always_inline __u64 live_key(__u64 address)
{
	return (__u64)state.exec_epoch << HAWK_EPOCH_SHIFT | address;
}

static __always_inline void book_allocated_on(__u32 stack, __u64 size_bytes, __u64 count)
{
	struct hawk_counters *c = counters_of(stack);

	if (!c)
		return;
	__sync_fetch_and_add(&c->allocated_bytes, size_bytes);
	__sync_fetch_and_add(&c->allocated_count, count);
}

static __always_inline void book_freed_on(__u32 stack, __u64 size_bytes, __u64 count)
{
	struct hawk_counters *c = counters_of(stack);

	if (!c)
		return;
	__sync_fetch_and_add(&c->freed_bytes, size_bytes);
	__sync_fetch_and_add(&c->freed_count, count);
}

static __always_inline void book_allocated(const struct hawk_block *block)
{
	book_allocated_on(block->stack, block->size_bytes, 1);
}

static __always_inline void book_freed(const struct hawk_block *block)
{
	book_freed_on(block->stack, block->size_bytes, 1);
}

static __always_inline void book_untraced_free(void)
{
	book_freed_on(HAWK_UNTRACED, 0, 1);
}

/* -------------------------------------------------------------------------------------------------- in the hash map */

/* The copy comes first: an element may belong to another key as soon as it is deleted. */
static __always_inline bool hash_take(__u64 address, struct hawk_block *taken)
{
	__u64 key = live_key(address);
	struct hawk_block *found = bpf_map_lookup_elem(&live_blocks, &key);

	if (!found)
		return false;
	*taken = *found;
	/* Since 6.15 the kernel gives a lock up that takes too long, as it may on a virtual CPU that is not scheduled. */
	for (int attempt = 0; attempt < HAWK_DELETE_ATTEMPTS; attempt++) {
		long error = bpf_map_delete_elem(&live_blocks, &key);

		if (!error || error == -HAWK_ENOENT)
			return !error;
	}
	count_loss(HAWK_LOSS_LIVE_TABLE_ERROR);
	return false;
}

/* Retires a block whose free went by unseen: its address has been handed out again. */
static __always_inline void retire_stale(const struct hawk_block *stale)
{
	book_freed(stale);
	count_loss(HAWK_LOSS_LIVE_OVERWRITTEN);
}

static __always_inline bool hash_insert(__u64 address, const struct hawk_block *block)
{
	__u64 key = live_key(address);
	long error = bpf_map_update_elem(&live_blocks, &key, block, BPF_NOEXIST);

	if (error == -HAWK_EEXIST) {
		struct hawk_block stale;

		if (hash_take(address, &stale))
			retire_stale(&stale);
		error = bpf_map_update_elem(&live_blocks, &key, block, BPF_NOEXIST);
	}
	if (!error)
		return true;
	count_loss(error == -HAWK_E2BIG ? HAWK_LOSS_LIVE_TABLE_FULL : HAWK_LOSS_LIVE_TABLE_ERROR);
	return false;
}

/* ------------------------------------------------------------------------------------------------------- in the arena */

/* Carries a request out; `fits`: the arena can have its address and its block at all. */
static __always_inline bool arena_do(struct hawk_request *request, bool fits)
{
	if (!fits)
		return false;
	hawk_preempt_disable();
	int settled = hawk_do_at_once(request);

	hawk_preempt_enable();
	if (!settled)
		hawk_do_slowly(request);
	return true;
}

static __always_inline bool arena_take(__u64 address, struct hawk_block *taken)
{
	struct hawk_request request = hawk_take_of(address, state.exec_epoch);

	if (arena_do(&request, hawk_slot_fits_address(address)) && request.result) {
		*taken = hawk_slot_block(&request.found);
		return true;
	}
	return state.overflowed && hash_take(address, taken);
}

/* A step of growth found no room for this block in the page where it belongs. */
static __always_inline void hawk_spill(__u64 address, const struct hawk_slot *slot)
{
	struct hawk_block block = hawk_slot_block(slot);

	state.overflowed = 1;
	if (!hash_insert(address, &block))
		book_freed(&block);
}

/* Wakes user space if few pages are left that growth could take. */
static __always_inline void ask_for_pages(void)
{
	struct hawk_arena_header __arena *header = hawk_header();
	__u32 used = hawk_geometry_pages(hawk_geometry_unpack(header->geometry));
	__u64 nothing = 0;

	if (header->pages_ready - used >= settings.pages_low || __sync_val_compare_and_swap(&state.pages_asked, 0, 1))
		return;
	bpf_ringbuf_output(&wakeups, &nothing, sizeof(nothing), BPF_RB_FORCE_WAKEUP);
}

/* Not static: checked once by the verifier. */
__noinline int grow_arena(void)
{
	if (!hawk_has_arena())
		return 0;
	hawk_resize(state.exec_epoch, 1);
	ask_for_pages();
	return 0;
}

/* A block that the arena cannot take: it goes to the hash map, and look-ups go there from now on when the arena knows nothing. */
static __noinline bool overflow_insert(__u64 address, const struct hawk_block *block)
{
	state.overflowed = 1;
	return hash_insert(address, block);
}

/* *growth_check: whether it is time to see if growth is due. */
static __always_inline bool arena_insert(__u64 address, const struct hawk_block *block, __u32 *growth_check)
{
	struct hawk_request request = hawk_insertion_of(address, block, state.exec_epoch);

	if (!arena_do(&request, hawk_slot_fits(address, block)))
		return overflow_insert(address, block);
	*growth_check = request.growth_check;
	if (request.result == HAWK_INSERTED)
		return true;
	if (request.result != HAWK_REPLACED)
		return overflow_insert(address, block);
	struct hawk_block stale = hawk_slot_block(&request.found);

	retire_stale(&stale);
	return true;
}

/* ------------------------------------------------------------------------------------------------------ in either */

/* Removes the block at `address` and stores what it was into `taken`. False: not in the table. */
static __always_inline bool live_take(__u64 address, struct hawk_block *taken)
{
	return hawk_has_arena() ? arena_take(address, taken) : hash_take(address, taken);
}

/* Puts a block back that was taken a moment ago. False: not kept, counted under its cause. Into the hash map, which serves
 * as well: it is rare, and comes at the end of so many calls that the arena's would not fit into the stack that programs
 * have up to 6.12. */
static __always_inline bool live_put_back(__u64 address, const struct hawk_block *block)
{
	return overflow_insert(address, block);
}

/* Books a block that the program has just been given. An entry that is already there belongs to a block whose free went by
 * unseen: it is retired, and counted. */
static __always_inline void live_add(__u64 address, const struct hawk_block *block)
{
	__u32 growth_check = 0;

	if (hawk_has_arena() ? arena_insert(address, block, &growth_check) : hash_insert(address, block))
		book_allocated(block);
	if (growth_check)
		grow_arena();
}

#endif
