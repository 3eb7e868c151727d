/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Calls that are seen once, inside the allocating function, where all of them is known and nothing but the return is left:
 * one trap, and no return address replaced. A call whose size is lost on the way to its result is opened where it is still
 * known, as one whose function may throw is at its entry. What a thread's open calls mean to others: calls.bpf.h. */
#ifndef HAWKTRACE_YIELD_POINTS_BPF_H
#define HAWKTRACE_YIELD_POINTS_BPF_H

#include "bpf/calls.bpf.h"
#include "bpf/free_lists.bpf.h"
#include "bpf/yield_points.h"

/* How often something was seen at each point. Read by user space, which begins with zero when it gives a number away. */
__u64 point_hits[HAWK_HIT_STRIPES][HAWK_MAX_YIELD_POINTS] __attribute__((aligned(64)));

static __always_inline __u64 *hits_of(__u32 point)
{
	return &point_hits[bpf_get_smp_processor_id() & (HAWK_HIT_STRIPES - 1)][point];
}

/* What a point says of its call. */
struct hawk_yielded {
	__u64 size_bytes;         /* as requested; not where it is remembered */
	struct hawk_return end;
};

static __always_inline __u64 yielded_size(struct hawk_thread *thread, struct pt_regs *ctx, const struct hawk_yield_point *point)
{
	__u64 size = 0;

	if (point->size_at == HAWK_NOT_ON_STACK)
		size = register_at_hand(ctx, point->size);
	else if (!read_target_word(thread, ctx->sp + point->size_at, &size))
		count_loss(program_of(thread), HAWK_LOSS_UNREADABLE_RESULT);
	return point->factor == HAWK_NO_REGISTER ? size : size * register_at_hand(ctx, point->factor);
}

static __always_inline void read_yield(struct hawk_thread *thread, struct pt_regs *ctx, const struct hawk_yield_point *point,
				       struct hawk_yielded *yielded)
{
	yielded->size_bytes = point->role == HAWK_YIELDS_RESULT ? 0 : yielded_size(thread, ctx, point);
	yielded->end.result = register_at_hand(ctx, point->result);
	thread->role = point->role;
	yielded->end.pc = 0;
	yielded->end.sp = ctx->sp + point->slot_at + 8;
	yielded->end.fp = ctx->bp;
	yielded->end.fp_at = point->rbp_at == HAWK_NOT_ON_STACK ? 0 : ctx->sp + point->rbp_at;
}

/* The same at a point before the block is taken; false: nothing is known (counted). */
static __always_inline bool read_ahead(struct hawk_thread *thread, struct pt_regs *ctx, __u32 number, struct hawk_yielded *yielded)
{
	__u64 block = first_listed(thread, number, ctx->ip, yielded->size_bytes,
				   register_at_hand(ctx, yield_points[number & (HAWK_MAX_YIELD_POINTS - 1)].lists));

	thread->listed_sp = ctx->sp;
	/* It is not counted anyway. */
	if (yielded->size_bytes < settings.min_block_bytes)
		thread->list_at = 0;
	yielded->end.result = block;
	return block != HAWK_UNREADABLE_LIST;
}

/* Opens a call that is under way. */
static __always_inline void open_call_inside(struct hawk_thread *thread, struct pt_regs *ctx, const struct hawk_yielded *yielded,
					     const struct hawk_yield_point *point)
{
	struct hawk_call *call = &thread->call;

	call->size_bytes = yielded->size_bytes;
	call->kind = point->kind;
	call->may_throw = 1;
	call->inner_words = point->inner_words;
	call->inner_rbp_words = point->inner_rbp_words;
	call->inner_return = ctx->ip + point->inner_return;
	call->rare = 0;
	call->old_address = 0;
	call->sp = yielded->end.sp - 8;
	if (!read_target_word(thread, call->sp, &call->return_address)) {
		/* It cannot be recognized any more. */
		count_loss(program_of(thread), HAWK_LOSS_UNREADABLE_RESULT);
		call->return_address = 0;
	}
}

/* The calls that are open say whose this one is, as at an entry. Returns whether it was opened. */
static __always_inline bool enter_late(struct hawk_thread *thread, struct pt_regs *ctx, const struct hawk_yielded *yielded,
				       const struct hawk_yield_point *point)
{
	int inside = HAWK_INSIDE_OWN;

	if (thread->call.sp) {
		__u64 fp = yielded->end.fp;

		if (yielded->end.fp_at && !read_target_word(thread, yielded->end.fp_at, &fp))
			fp = 0;
		inside = enter_inside(thread, yielded->end.sp - 8, fp, HAWK_ENTRY_MAY_THROW);
		if (inside == HAWK_INSIDE_NOTHING)
			return false;
	}
	if (yielded->size_bytes < settings.min_block_bytes) {
		resume_call(thread);
		return false;
	}
	open_call_inside(thread, ctx, yielded, point);
	if (inside == HAWK_INSIDE_UNKNOWN)
		thread->call.may_be_nested = 1;
	return true;
}

/* Whether the newest open call is the one that returns at `slot`. The code of a point may be shared with functions that are not
 * probed, whose calls come by where another one has been left. */
static __always_inline bool is_remembered(struct hawk_thread *thread, __u64 slot)
{
	__u64 return_address = 0;

	if (!is_open_call(thread, slot, true))
		return false;
	if (!read_target_word(thread, slot, &return_address) ||
	    is_return_address(&thread->call, return_address))
		return true;
	forget_newest(thread);
	return false;
}

/* Whether the newest open call is the one that returns at `slot`, as far as is known: one that was left there, from the same
 * place in the program, looks the same. */
static __always_inline bool is_same_call(struct hawk_thread *thread, __u64 slot)
{
	__u64 return_address = 0;

	return thread->call.sp == slot && thread->call.may_throw && read_target_word(thread, slot, &return_address) &&
	       is_return_address(&thread->call, return_address);
}

/* Whether what returns at `slot`, where `word` stands, is the call by which the open one has its block made. */
static __always_inline bool is_inner_of(const struct hawk_call *outer, __u64 slot, __u64 word)
{
	return outer->inner_words && outer->may_throw && outer->sp - slot == outer->inner_words * 8 &&
	       stands_for(word, slot, outer->inner_return);
}

/* Makes the open call whose inner one returns at `slot` the newest; false: there is none. */
static __noinline bool find_outer(struct hawk_thread *thread, __u64 slot)
{
	__u64 word = 0;

	if (!read_target_word(thread, slot, &word))
		return false;
	if (is_inner_of(&thread->call, slot, word))
		return true;
	for (__u32 i = 0; i < HAWK_INTERRUPTED_CALLS && i < thread->interrupted_count; i++) {
		if (is_inner_of(&thread->interrupted[i], slot, word))
			return return_of_other(thread, thread->interrupted[i].sp, true);
	}
	return false;
}

/* Whether the point, whose call returns at `slot`, is in the call by which an open one has its block made: that is the newest then,
 * and as the point says. Not static: checked once by the verifier. */
__noinline int see_inner_call(struct hawk_thread *thread, __u32 number, __u64 slot, __u64 size_bytes)
{
	const struct hawk_yield_point *point = &yield_points[number & (HAWK_MAX_YIELD_POINTS - 1)];

	if (!thread || (!thread->call.inner_words && !thread->interrupted_count) || !find_outer(thread, slot))
		return 0;
	if (point->role == HAWK_YIELDS_RESULT)
		return 1;
	thread->call.size_bytes = size_bytes;
	thread->call.kind = point->kind;
	return 1;
}

/* In place of the number of a point: its code has been called by another function than those that it is for; or that cannot be known. */
#define HAWK_NO_POINT HAWK_MAX_YIELD_POINTS
#define HAWK_UNKNOWN_POINT (HAWK_MAX_YIELD_POINTS + 1)

/* Of the points at one instruction, of which `number` is the first, the one for the caller at this address. */
static __always_inline int point_of_caller(__u32 number, __u64 ip, __u64 return_address)
{
	for (__u32 i = 0; i < HAWK_MOST_CALLERS; i++) {
		const struct hawk_yield_point *point = &yield_points[(number + i) & (HAWK_MAX_YIELD_POINTS - 1)];

		if (ip + point->caller_return == return_address)
			return (number + i) & (HAWK_MAX_YIELD_POINTS - 1);
		if (!point->more_callers)
			break;
	}
	return HAWK_NO_POINT;
}

/* The same for the caller that waits: `slot` is where its return address stands. Without a thread, of which nothing is known yet, by a
 * helper. Not static: checked once by the verifier. */
__noinline int find_caller(struct hawk_thread *thread, __u32 number, __u64 ip, __u64 slot)
{
	__u64 return_address = 0, trampoline;
	bool is_read = thread && read_target_word(thread, slot, &return_address);
	int found;

	if (!is_read && bpf_probe_read_user(&return_address, sizeof(return_address), (void *)slot))
		return HAWK_UNKNOWN_POINT;
	found = point_of_caller(number, ip, return_address);
	if (found != HAWK_NO_POINT)
		return found;
	/* Another tracer may have a return probe on the function. */
	trampoline = trampoline_address();
	if (!trampoline || return_address != trampoline)
		return HAWK_NO_POINT;
	return point_of_caller(number, ip, replaced_return(slot, trampoline));
}

/* A call that is seen here alone, while no other is open: nearly every one. As end_call. */
static __always_inline __u64 see_at_once(const struct hawk_thread *thread, const struct hawk_yielded *yielded, struct hawk_block *block)
{
	*block = (struct hawk_block){ .size_bytes = yielded->size_bytes, .program = program_of(thread), .born = state.clock };
	return yielded->size_bytes < settings.min_block_bytes ? 0 : yielded->end.result;
}

/* Any other; false: nothing is to be counted. The newest call is the one that the point is about then. */
static __always_inline bool see_with_others(struct hawk_thread *thread, struct pt_regs *ctx, const struct hawk_yield_point *point,
					    __u32 number, struct hawk_yielded *yielded)
{
	if (thread->call.sp && see_inner_call(thread, number, yielded->end.sp - 8, yielded->size_bytes)) {
		yielded->end.sp = thread->call.sp + 8;
		if (thread->call.inner_rbp_words)
			yielded->end.fp_at = thread->call.sp - thread->call.inner_rbp_words * 8;
		return true;
	}
	if (thread->role == HAWK_YIELDS_RESULT)
		return is_remembered(thread, yielded->end.sp - 8);
	if (thread->role == HAWK_YIELDS_ALL && is_same_call(thread, yielded->end.sp - 8)) {
		/* Opened for the sake of calls that are made in it. */
		thread->call.size_bytes = yielded->size_bytes;
		thread->call.kind = point->kind;
		return true;
	}
	return enter_late(thread, ctx, yielded, point);
}

static __always_inline enum hawk_outcome on_yield(struct hawk_thread *thread, struct pt_regs *ctx, __u64 cookie)
{
	__u32 number = cookie >> HAWK_COOKIE_POINT_SHIFT & (HAWK_MAX_YIELD_POINTS - 1);
	const struct hawk_yield_point *point = &yield_points[number];
	struct hawk_yielded yielded;
	struct hawk_block block;
	__u64 address;

	if (point->condition != HAWK_ALWAYS && !hawk_condition_holds(ctx->flags, point->condition))
		return HAWK_NOTHING_WANTED;
	if (!state.enabled)
		return HAWK_NOTHING_WANTED;
	const bool is_shared = point->caller_at != HAWK_NOT_ON_STACK;

	/* Or a thread for which there is no room would lose a call that is none. */
	if (is_shared && !thread && find_caller(NULL, number, ctx->ip, ctx->sp + point->caller_at) == HAWK_NO_POINT)
		return HAWK_NOTHING_WANTED;
	if (!thread)
		return HAWK_STATE_WANTED;
	if (!is_still_followed(thread))
		return HAWK_NOTHING_WANTED;
	if (is_shared) {
		number = find_caller(thread, number, ctx->ip, ctx->sp + point->caller_at);
		if (number == HAWK_UNKNOWN_POINT)
			count_loss(program_of(thread), HAWK_LOSS_UNREADABLE_RESULT);
		if (number >= HAWK_MAX_YIELD_POINTS)
			return HAWK_NOTHING_WANTED;
		point = &yield_points[number];
	}
	read_yield(thread, ctx, point, &yielded);
	if (point->role == HAWK_YIELDS_AHEAD && !read_ahead(thread, ctx, number, &yielded))
		return HAWK_NOTHING_WANTED;
	if (!thread->call.sp && thread->role == HAWK_YIELDS_ALL) {
		address = see_at_once(thread, &yielded, &block);
	} else {
		if (!see_with_others(thread, ctx, point, number, &yielded))
			return HAWK_NOTHING_WANTED;
		address = thread->role == HAWK_YIELDS_SIZE ? 0 : end_call(thread, &yielded.end, &block);
	}
	struct hawk_tally tally = { .hits = cpus_own_stripes(HAWK_HIT_STRIPES) ? hits_of(number) : NULL };

	if (address)
		count_block(thread, address, &block, &yielded.end, HAWK_SEEN_BEFORE, &tally);
	/* Where its block is seen it is counted. */
	if (point->role == HAWK_YIELDS_AHEAD && thread->role == HAWK_YIELDS_SIZE)
		return HAWK_NOTHING_WANTED;
	if (!tally.is_done || !tally.hits)
		__sync_fetch_and_add(hits_of(number), 1);
	return HAWK_NOTHING_WANTED;
}

#endif
