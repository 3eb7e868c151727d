/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Blocks in a hash map: all of them where there is no arena, or else those that the arena cannot take. */
#ifndef HAWKTRACE_LIVE_HASH_BPF_H
#define HAWKTRACE_LIVE_HASH_BPF_H

#include "bpf/live/arena.bpf.h"
#include "bpf/live/counters.bpf.h"

#define HAWK_ENOENT 2
#define HAWK_E2BIG 7
#define HAWK_ENOMEM 12
#define HAWK_EEXIST 17

#define HAWK_DELETE_ATTEMPTS 8

static __always_inline __u32 *overflow_cell(__u64 live_hash)
{
	return &overflow_blocks[hawk_overflow_cell(live_hash)];
}

static __always_inline void count_overflow(const struct hawk_block_key *key, __s32 change)
{
	if (hawk_has_arena())
		__sync_fetch_and_add(overflow_cell(hawk_live_hash(key->address, key->program)), change);
}

/* Whether the hash map beside the arena may have a block at the address with this hash. */
static __always_inline bool may_have_overflowed(__u64 live_hash)
{
	return state.overflowed && *(volatile __u32 *)overflow_cell(live_hash);
}

/* The copy comes first: an element may belong to another key as soon as it is deleted. */
static __always_inline __u32 take_from(void *map, const struct hawk_block_key *key, struct hawk_block *taken)
{
	struct hawk_block *found = bpf_map_lookup_elem(map, key);

	if (!found)
		return HAWK_NOT_THERE;
	*taken = *found;
	/* Since 6.15 the kernel gives a lock up that takes too long, as it may on a virtual CPU that is not scheduled. */
#pragma clang loop unroll(disable)
	for (int attempt = 0; attempt < HAWK_DELETE_ATTEMPTS; attempt++) {
		long error = bpf_map_delete_elem(map, key);

		if (error == -HAWK_ENOENT)
			return HAWK_NOT_THERE;
		if (!error) {
			count_overflow(key, -1);
			return HAWK_TAKEN;
		}
	}
	return HAWK_TAKE_TIMEOUT;
}

/* An arena has no reserve: its blocks are spilled with preemption disabled, where functions that are not static cannot be
 * called. */
static __always_inline bool has_reserve(void)
{
	return !hawk_has_arena();
}

/* The functions of the reserve are not static: the verifier checks them once each, and not wherever they are called. */
__noinline int reserve_take(__u64 address, __u32 program, struct hawk_block *taken)
{
	const struct hawk_block_key key = { .address = address, .program = program };
	__u32 used = state.reserves_used;

	if (!has_reserve() || !taken)
		return 0;
	for (__u32 i = 0; i < HAWK_RESERVE_MAPS && i < used; i++) {
		__u32 number = used - 1 - i;
		void *map = bpf_map_lookup_elem(&reserve_maps, &number);

		__u32 taking = map ? take_from(map, &key, taken) : HAWK_NOT_THERE;

		if (taking != HAWK_NOT_THERE)
			return taking;
	}
	return HAWK_NOT_THERE;
}

static __always_inline __u32 hash_take_here(__u64 address, __u32 program, struct hawk_block *taken)
{
	const struct hawk_block_key key = { .address = address, .program = program };
	__u32 taking = take_from(&live_blocks, &key, taken);

	if (taking != HAWK_NOT_THERE)
		return taking;
	if (!has_reserve() || !state.reserves_used)
		return HAWK_NOT_THERE;
	return reserve_take(address, program, taken);
}

/* Not static: checked once by the verifier. Up to 6.2 functions are given initialized memory only. */
__noinline int hash_take(__u64 address, __u32 program, struct hawk_block *taken)
{
	return taken ? hash_take_here(address, program, taken) : HAWK_NOT_THERE;
}

/* Retires a block whose free went by unseen: its address has been handed out again. */
static __always_inline void retire_stale(const struct hawk_block *stale)
{
	count_freed(stale);
	count_loss(stale->program, HAWK_LOSS_LIVE_OVERWRITTEN);
}

/* The same. Not static: checked once by the verifier. Not to be called with preemption disabled. */
__noinline int retire_stale_apart(__u32 program, __u32 stack, __u64 size_bytes)
{
	const struct hawk_block stale = { .size_bytes = size_bytes, .stack = stack, .program = program };

	retire_stale(&stale);
	return 0;
}

/* Into a map of the reserve that is in use, the newest that has room. What stands for this address anywhere is retired. */
__noinline int reserve_insert(__u64 address, const struct hawk_block *block)
{
	__u32 used = state.reserves_used;
	struct hawk_block copy = {};

	if (!has_reserve() || !block)
		return 0;
	const struct hawk_block_key key = { .address = address, .program = block->program };
	__u32 taking = hash_take_here(address, block->program, &copy);

	if (taking == HAWK_TAKEN)
		retire_stale(&copy);
	if (taking == HAWK_TAKE_TIMEOUT)
		count_loss(block->program, HAWK_LOSS_UNSETTLED_FREE);
	copy = *block; /* up to 6.2 maps take nothing that a function was given */
	for (__u32 i = 0; i < HAWK_RESERVE_MAPS && i < used; i++) {
		__u32 number = used - 1 - i;
		void *map = bpf_map_lookup_elem(&reserve_maps, &number);

		if (map && !bpf_map_update_elem(map, &key, &copy, BPF_NOEXIST))
			return 1;
	}
	return 0;
}

/* Into the next map of the reserve. The first block there asks user space for another. */
__noinline int reserve_open(__u64 address, const struct hawk_block *block)
{
	__u64 nothing = 0;
	__u32 number = state.reserves_used;

	if (!has_reserve() || !block)
		return 0;
	const struct hawk_block_key key = { .address = address, .program = block->program };
	void *map = bpf_map_lookup_elem(&reserve_maps, &number);
	struct hawk_block copy = *block;

	if (!map || bpf_map_update_elem(map, &key, &copy, BPF_NOEXIST))
		return 0;
	if (__sync_val_compare_and_swap(&state.reserves_used, number, number + 1) == number)
		bpf_ringbuf_output(&reserve_wakeups, &nothing, sizeof(nothing), BPF_RB_FORCE_WAKEUP);
	return 1;
}

/* A reserve that is in use comes first: its memory is there already, and to be refused some takes microseconds. */
static __always_inline bool hash_insert(__u64 address, const struct hawk_block *block)
{
	const struct hawk_block_key key = { .address = address, .program = block->program };

	if (has_reserve() && state.reserves_used && reserve_insert(address, block))
		return true;
	count_overflow(&key, 1);
	long error = bpf_map_update_elem(&live_blocks, &key, block, BPF_NOEXIST);

	if (error == -HAWK_EEXIST) {
		struct hawk_block stale;

		if (take_from(&live_blocks, &key, &stale) == HAWK_TAKEN)
			retire_stale(&stale);
		error = bpf_map_update_elem(&live_blocks, &key, block, BPF_NOEXIST);
	}
	if (!error)
		return true;
	/* If the next map is not there yet, another thread may have been the first in the one before it a moment ago. */
	if (has_reserve() && error == -HAWK_ENOMEM && (reserve_open(address, block) || reserve_insert(address, block)))
		return true;
	count_overflow(&key, -1);
	count_loss(block->program, error == -HAWK_E2BIG ? HAWK_LOSS_LIVE_TABLE_FULL : HAWK_LOSS_LIVE_TABLE_ERROR);
	return false;
}

#endif
