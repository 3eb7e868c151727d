/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The live table's two operations. */
#ifndef HAWKTRACE_LIVE_TABLE_BPF_H
#define HAWKTRACE_LIVE_TABLE_BPF_H

#include "bpf/live/hash.bpf.h"

/* ------------------------------------------------------------------------------------------------------- in the arena */

/* What is counted of a request as soon as it is settled, with preemption off as it is then. */
struct hawk_tally {
	__u64 *hits;               /* one more, of an insertion, in this CPU's own stripe; NULL: not there */
	bool is_done;              /* out: all of it */
};

/* What the hash map may have is counted later. */
static __always_inline bool tally_take(const struct hawk_request *request)
{
	if (request->result != HAWK_TAKEN || may_have_overflowed(request->hash))
		return false;
	count_freed_on(request->found.high_and_stack & HAWK_SLOT_STACK_MASK, request->found.size_bytes, 1, true);
	return true;
}

static __always_inline bool tally_insertion(const struct hawk_request *request, __u64 *hits)
{
	count_allocated_on(request->slot.high_and_stack & HAWK_SLOT_STACK_MASK, request->slot.size_bytes, 1, true);
	if (hits)
		++*hits;
	return true;
}

static __always_inline int settle_at_once(struct hawk_request *request, const struct hawk_home *home, struct hawk_tally *tally)
{
	const int settled = hawk_do_at_once(request, home);

	if (settled && tally && cpus_own_stripes(settings.cpu_mask + 1))
		tally->is_done = request->is_take ? tally_take(request) : tally_insertion(request, tally->hits);
	return settled;
}

/* The same, with preemption off or, if the state of the current thread is there, seen not to happen. */
static __always_inline int settle_alone(const struct hawk_thread *thread, struct hawk_request *request, const struct hawk_home *home,
					struct hawk_tally *tally)
{
	int settled;

	if (!thread) {
		hawk_preempt_disable();
		settled = settle_at_once(request, home, tally);
		hawk_preempt_enable();
		return settled;
	}
	const __u64 begun = hawk_begin_alone(thread->preemptions_at);

	settled = settle_at_once(request, home, tally);
	if (hawk_end_alone(thread->preemptions_at, begun))
		count_loss(request->program, HAWK_LOSS_PREEMPTED);
	return settled;
}

/* Carries a request out; `fits`: the arena can have its address and its block at all. `home`, if there is one: the short way first,
 * and with `tally`, if there is one, it is counted. `thread`: NULL, or the current one's. */
static __always_inline bool arena_do(const struct hawk_thread *thread, struct hawk_request *request, bool fits,
				     const struct hawk_home *home, struct hawk_tally *tally)
{
	if (!fits)
		return false;
	if (!home) {
		hawk_do_slowly(request);
		return true;
	}
	if (!settle_alone(thread, request, home, tally))
		hawk_do_slowly(request);
	return true;
}

/* The arena had a block at `address`; the hash map has another one only if it could not be asked when that was put there: it
 * is the newer one. Not static: checked once by the verifier. */
__noinline int prefer_overflowed(__u64 address, struct hawk_block *taken)
{
	struct hawk_block newer = {};

	if (!hawk_has_arena() || !taken)
		return 0;
	__u32 taking = hash_take(address, taken->program, &newer);

	if (taking == HAWK_TAKE_TIMEOUT)
		count_loss(taken->program, HAWK_LOSS_UNSETTLED_FREE);
	if (taking != HAWK_TAKEN)
		return 0;
	retire_stale_apart(taken->program, taken->stack, taken->size_bytes);
	*taken = newer;
	return 1;
}

static __always_inline __u32 arena_take(const struct hawk_thread *thread, __u64 address, __u32 program, struct hawk_block *taken,
					const bool at_once, struct hawk_tally *tally)
{
	struct hawk_request request = hawk_take_of(address, program);
	struct hawk_home home = hawk_home_of(request.hash);

	if (arena_do(thread, &request, hawk_slot_fits_address(address), at_once ? &home : NULL, tally) &&
	    request.result != HAWK_NOT_THERE) {
		*taken = hawk_slot_block(&request.found, request.program);
		if (request.result == HAWK_TAKEN && may_have_overflowed(request.hash))
			prefer_overflowed(address, taken);
		return request.result;
	}
	return may_have_overflowed(request.hash) ? hash_take(address, program, taken) : HAWK_NOT_THERE;
}

/* A step of growth found no room for this block in the page where it belongs. */
static __always_inline void hawk_spill(__u64 address, const struct hawk_slot *slot, __u32 program)
{
	struct hawk_block block = hawk_slot_block(slot, program);

	state.overflowed = 1;
	if (!hash_insert(address, &block))
		count_freed(&block);
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
	hawk_resize(1);
	ask_for_pages();
	return 0;
}

/* A block that the arena cannot take: it goes to the hash map, and look-ups go there from now on when the arena knows nothing. Not
 * static: checked once by the verifier. */
__noinline int overflow_insert(__u64 address, const struct hawk_block *block)
{
	if (!block)
		return 0;
	struct hawk_block copy = *block; /* up to 6.2 maps take nothing that a function was given */

	state.overflowed = 1;
	return hash_insert(address, &copy);
}

/* A block at `address` is going into the arena, or into the hash map: one that the latter has there already is stale. Not static:
 * checked once by the verifier. */
__noinline int retire_overflowed(__u64 address, __u32 program)
{
	struct hawk_block stale = {};

	if (!hawk_has_arena() || hash_take(address, program, &stale) != HAWK_TAKEN)
		return 0;
	retire_stale_apart(stale.program, stale.stack, stale.size_bytes);
	return 1;
}

/* *growth_check: whether it is time to see if growth is due. */
static __always_inline bool arena_insert(const struct hawk_thread *thread, __u64 address, const struct hawk_block *block, const struct hawk_home *home,
					 __u32 *growth_check, struct hawk_tally *tally)
{
	struct hawk_request request = hawk_insertion_of(home->hash, address, block);
	const bool fits = hawk_slot_fits(address, block);

	/* Before the block is there, or a step of growth might put it into the hash map meanwhile. */
	if (may_have_overflowed(request.hash))
		retire_overflowed(address, block->program);
	/* Of a block that the arena cannot hold, the address may still be there. */
	if (!arena_do(thread, &request, fits, home, tally) && hawk_slot_fits_address(address)) {
		request.is_take = 1;
		hawk_do_slowly(&request);
	}
	*growth_check = request.growth_check;
	if (request.result == HAWK_REPLACED) {
		struct hawk_block stale = hawk_slot_block(&request.found, request.program);

		retire_stale_apart(stale.program, stale.stack, stale.size_bytes);
	}
	return (fits && request.result <= HAWK_REPLACED) || overflow_insert(address, block);
}

/* ------------------------------------------------------------------------------------------------------ in either */

/* Removes the block of a program at `address` and stores what it was into `taken`. What could not be settled is counted. */
static __always_inline enum hawk_taking live_take_somehow(const struct hawk_thread *thread, __u32 program, __u64 address,
							  struct hawk_block *taken, const bool at_once, struct hawk_tally *tally)
{
	__u32 taking = hawk_has_arena() ? arena_take(thread, address, program, taken, at_once, tally) :
					  hash_take(address, program, taken);

	if (taking == HAWK_TAKE_TIMEOUT)
		count_loss(program, HAWK_LOSS_UNSETTLED_FREE);
	return taking;
}

/* See fetch.h. Not static: checked once by the verifier. */
__noinline int fetch_ahead(__u64 last, __u64 now, __u32 program)
{
	hawk_fetch_around(now, program);
	if ((last ^ now) & HAWK_PLACE_IN_PART)
		hawk_fetch_around((now & ~HAWK_PLACE_IN_PART) | (last & HAWK_PLACE_IN_PART), program);
	return 0;
}

/* A thread whose last block is in *run has been given, or gives back, the one at `address`: it may be going on from block to block. Before
 * that one is looked for, which may be the first of those to be fetched. */
static __always_inline void follow_run(__u64 *run, __u64 address, __u32 program)
{
	if (!hawk_has_arena())
		return;
	const __u64 last = *run, now = hawk_next_in_run(last, address);

	*run = now;
	if (hawk_runs_on(last, now))
		fetch_ahead(last, now, program);
}

static __always_inline enum hawk_taking live_take(__u32 program, __u64 address, struct hawk_block *taken)
{
	return live_take_somehow(NULL, program, address, taken, true, NULL);
}

/* The same of a block that the current thread gives back, and counts it as freed. */
static __always_inline enum hawk_taking live_free(struct hawk_thread *thread, __u64 address, struct hawk_block *taken)
{
	struct hawk_tally tally = {};

	follow_run(&thread->run_of_frees, address, program_of(thread));
	enum hawk_taking taking = live_take_somehow(thread, program_of(thread), address, taken, true, &tally);

	if (taking == HAWK_TAKEN && !tally.is_done)
		count_freed(taken);
	return taking;
}

/* The same in less code. */
static __always_inline enum hawk_taking live_take_slowly(__u32 program, __u64 address, struct hawk_block *taken)
{
	return live_take_somehow(NULL, program, address, taken, false, NULL);
}

/* The same where it is not what every call needs. Not static: checked once by the verifier. */
__noinline int live_take_apart(__u32 program, __u64 address, struct hawk_block *taken)
{
	return taken ? live_take(program, address, taken) : HAWK_NOT_THERE;
}

/* Puts a block back that was taken a moment ago. False: not kept, counted under its cause. Into the hash map, which serves
 * as well: it is rare, and comes at the end of so many calls that the arena's would not fit into the stack that programs
 * have up to 6.12. */
static __always_inline bool live_put_back(__u64 address, const struct hawk_block *block)
{
	return overflow_insert(address, block);
}

/* A block at `address` is going to be added: where. */
static __always_inline struct hawk_home live_expect(struct hawk_thread *thread, __u32 program, __u64 address)
{
	struct hawk_home home = {};

	follow_run(&thread->run_of_allocations, address, program);
	if (hawk_has_arena()) {
		home = hawk_home_of(hawk_live_hash(address, program));
		hawk_fetch_home(&home);
	}
	return home;
}

/* Counts a block that a thread has just been given. An entry that is already there belongs to a block whose free went by
 * unseen: it is retired, and counted. */
static __always_inline void live_add(struct hawk_thread *thread, __u64 address, const struct hawk_block *block,
				     const struct hawk_home *home, struct hawk_tally *tally)
{
	__u32 growth_check = 0;

	if (hawk_has_arena() ? arena_insert(thread, address, block, home, &growth_check, tally) : hash_insert(address, block)) {
		if (!tally->is_done)
			count_allocated(block);
		count_size(block);
	}
	if (settings.histograms)
		thread->last_allocated = address;
	if (growth_check)
		grow_arena();
}

#endif
