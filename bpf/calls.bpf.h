/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* From a probe hit to the counters: which call is the program's own, what it asked for, what it got.
 *
 * Allocators call themselves at the very addresses that are probed (realloc(NULL, n) jumps to malloc, calloc in some
 * calls malloc), so that only the outermost call of a thread counts. It is open from its entry to its return. What an entry
 * in between means is seen from the open call's return slot:
 *
 *     rsp at entry      open call's return slot    called by       what it means
 *     any               something else             -               the open call was left by longjmp or a throw, and its
 *                                                                  stack has been used again
 *     at the open       holds the trampoline       -               nested: a tail call, which has the same slot
 *     at the open       holds the return address   -               the same, or a call in place of one that was left: the
 *                                                                  entry takes over
 *     above the open    holds the trampoline       -               left: the kernel gives its return probe up
 *     elsewhere         holds either               code that is     a call of the program's own, from a hook, a signal handler
 *                                                  no allocator's  or a coroutine; or the open call was left, and nothing has
 *                                                                  written to its slot since
 *     elsewhere         holds either               code that may   nested, or a call of the program's own: nested_calls.bpf.h
 *                                                  be
 *
 * The trampoline is what the kernel puts in place of the return address while a return probe is pending. A call that may
 * throw has its returns probed at instructions of its own instead; its slot keeps the address, and a throw is no loss: the
 * program was given nothing. Only what became of a block that the program had given to such a call is not known then.
 *
 * In the last two rows both calls are kept as open, and whichever returns is counted, unless it may be nested. The older one is
 * interrupted, and it is forgotten as soon as it is seen to be left.
 */
#ifndef HAWKTRACE_CALLS_BPF_H
#define HAWKTRACE_CALLS_BPF_H

#include "bpf/arch/x86_64/call_arguments.bpf.h"
#include "bpf/arch/x86_64/condition.h"
#include "bpf/early_frees.bpf.h"
#include "bpf/kinds.h"
#include "bpf/live/table.bpf.h"
#include "bpf/probe_cookies.bpf.h"
#include "bpf/requested_size.h"
#include "bpf/returned_strings.bpf.h"
#include "bpf/threads.bpf.h"
#include "bpf/unwind/find_stack.bpf.h"

/* Takes the realloc family's old block out of the live table, now: once the allocator has moved the block, another thread
 * may be given its address before we see the return. */
static __always_inline void take_in_hand(struct hawk_call *call, __u64 address)
{
	enum hawk_taking taking = address ? live_take_apart(call->program, address, &call->old) : HAWK_NOT_THERE;

	if (address && taking == HAWK_NOT_THERE)
		note_unknown_free(call->program, address);
	call->old_address = taking == HAWK_TAKE_TIMEOUT ? 0 : address;
	call->old_found = taking == HAWK_TAKEN;
	if (call->old_found)
		count_allocated_apart(reserved_number(call->program, HAWK_IN_HAND), call->old.size_bytes, 1);
}

static __always_inline void leave_hand(struct hawk_call *call)
{
	count_freed_apart(reserved_number(call->program, HAWK_IN_HAND), call->old.size_bytes, 1);
	call->old_found = 0;
}

/* Puts the block in hand, if there is one, back where it was. Not static: checked once by the verifier. */
__noinline int put_back(struct hawk_call *call)
{
	if (!call || !call->old_found)
		return 0;
	leave_hand(call);
	if (!live_put_back(call->old_address, &call->old))
		count_freed_apart(call->old.stack, call->old.size_bytes, 1);
	return 0;
}

/* The calls that were nested in `call` were indeed: it returns. */
static __always_inline void settle_nested(struct hawk_call *call)
{
	if (call->nested)
		count_freed_apart(reserved_number(call->program, HAWK_NESTED), 0, call->nested);
	call->nested = 0;
}

static __always_inline void settle_doubt(struct hawk_call *call)
{
	if (call->is_doubted)
		__sync_fetch_and_add(&target_at(call->program)->doubted_calls, -1);
	call->is_doubted = 0;
}

/* A call returns that something has happened to. Returns whether it had no others in it. Apart: registers are short in what
 * every call passes. */
static __noinline bool settle_rare(struct hawk_call *call)
{
	bool is_alone = !(call->nested | call->may_be_nested | call->blocks_inside);

	settle_nested(call);
	settle_doubt(call);
	return is_alone;
}

/* Closes a call that will not return. What a realloc had taken out was never given up. */
static __always_inline void abandon(struct hawk_call *call, bool is_loss)
{
	put_back(call);
	settle_doubt(call);
	call->sp = 0;
	call->nested = 0;
	call->may_be_nested = 0;
	call->inner_address = 0;
	if (is_loss)
		count_loss(call->program, HAWK_LOSS_ABANDONED_CALL);
}

/* Whether it is a loss if a call does not return. */
static __always_inline bool is_missed(const struct hawk_call *call)
{
	return !call->may_throw || call->old_address;
}

#include "bpf/open_calls.bpf.h"

/* The function of the newest call goes on as another one, which begins now, with the same block: nothing has happened yet. Or
 * that call was left, and the program has its block still. Not static: checked once by the verifier. */
__noinline int undo_passed_on(struct hawk_thread *thread, __u64 sp, __u64 block)
{
	if (!thread || thread->call.sp != sp || !thread->call.may_throw || !block || thread->call.old_address != block)
		return 0;
	abandon(&thread->call, false);
	resume_call(thread);
	return 0;
}

static __always_inline void open_call(struct hawk_call *call, struct pt_regs *ctx, __u64 cookie)
{
	__u32 kind = cookie & HAWK_COOKIE_KIND;
	struct hawk_arguments arguments = arguments_at(ctx, cookie);

	call->size_bytes = hawk_requested_bytes(kind, arguments.first, arguments.second, arguments.third);
	if (kind == HAWK_CALL_POSIX_MEMALIGN) {
		call->result_at = arguments.first;
		begin_stored_result(call);
	}
	call->kind = kind;
	call->may_throw = !!(cookie & HAWK_COOKIE_MAY_THROW);
	call->rare = call->inner_words = 0;
	call->old_address = 0;
	if (hawk_takes_block(kind)) {
		call->extra_bytes = arguments.third;
		take_in_hand(call, arguments.first);
	}
	if (call->may_throw)
		bpf_probe_read_user(&call->return_address, sizeof(call->return_address), (void *)ctx->sp);
	call->sp = ctx->sp;
}

/* Whether a call can be left alone from its entry on, which saves the trap at its return: what it allocates is too small to be
 * followed, and it gives nothing back. Calls that an allocator makes inside it ask for the same size. */
static __always_inline bool too_small(struct pt_regs *ctx, __u64 cookie)
{
	__u32 kind = cookie & HAWK_COOKIE_KIND;

	if (!settings.min_block_bytes)
		return false;
	struct hawk_arguments arguments = arguments_at(ctx, cookie);

	if (hawk_takes_block(kind) && arguments.first)
		return false;
	return hawk_requested_bytes(kind, arguments.first, arguments.second, arguments.third) < settings.min_block_bytes;
}

/* Entry of an allocating function. In a session its return can still be left out: where its system call would be answered as if it
 * were the process's, which that might not survive. */
static __always_inline enum hawk_outcome on_entry(struct hawk_thread *thread, struct pt_regs *ctx, __u64 cookie, const bool in_session)
{
	__u32 entry = (cookie & HAWK_COOKIE_MAY_THROW ? HAWK_ENTRY_MAY_THROW : 0) | (in_session ? HAWK_ENTRY_IN_SESSION : 0);

	int inside = HAWK_INSIDE_OWN;

	if (!state.enabled || (thread && !is_still_followed(thread)))
		return HAWK_NOTHING_WANTED;
	if (thread && thread->call.sp && hawk_takes_block(cookie & HAWK_COOKIE_KIND))
		undo_passed_on(thread, ctx->sp, arguments_at(ctx, cookie).first);
	if (thread && thread->call.sp) {
		inside = enter_inside(thread, ctx->sp, ctx->bp, entry);
		if (inside == HAWK_INSIDE_NOTHING)
			return HAWK_NOTHING_WANTED;
	}
	if (too_small(ctx, cookie)) {
		if (thread)
			resume_call(thread);
		return HAWK_NOTHING_WANTED;
	}
	if (!thread)
		return HAWK_STATE_WANTED;
	if (in_session && settings.returns_are_calls && interceptors_of(bpf_get_current_task_btf())) {
		count_loss(program_of(thread), HAWK_LOSS_INTERCEPTED_CALL);
		resume_call(thread);
		return HAWK_NOTHING_WANTED;
	}
	open_call(&thread->call, ctx, cookie);
	/* Who gives back a block of the program's is the program. */
	if (inside == HAWK_INSIDE_UNKNOWN)
		thread->call.may_be_nested = !thread->call.old_found;
	return HAWK_RETURN_WANTED;
}

/* The address that a call handed to the program; 0: it failed. */
static __always_inline __u64 returned_address(struct hawk_thread *thread, __u64 result)
{
	struct hawk_call *call = &thread->call;
	__u64 address = 0;

	if (call->kind == HAWK_CALL_XALLOCX) {
		if (result < call->size_bytes)
			return 0;
		call->size_bytes = hawk_resized_bytes(call->size_bytes, call->extra_bytes, result);
		return call->old_address;
	}
	if (call->kind != HAWK_CALL_POSIX_MEMALIGN)
		return call->kind == HAWK_CALL_STRING ? take_string(call, result) : result;
	if ((__u32)result != 0)
		return 0;
	if (!read_target_word(thread, call->result_at, &address))
		count_loss(program_of(thread), HAWK_LOSS_UNREADABLE_RESULT);
	else if (address ? freed_early(call, address) : call->size_bytes != 0) /* of 0 bytes it may be null (POSIX) */
		count_loss(program_of(thread), HAWK_LOSS_EARLY_FREE);
	return address;
}

/* The block in hand is no more. */
static __always_inline void end_old_block(struct hawk_thread *thread)
{
	struct hawk_call *call = &thread->call;

	leave_hand(call);
	count_freed_apart(call->old.stack, call->old.size_bytes, 1);
	if (counts_lives())
		count_death(thread, call->old.stack, call->old.born, call->old_address);
}

/* The program frees a block. If it had given that to the newest call, which it has left then, the block is no more. Returns whether
 * it is so. Not static: checked once by the verifier. */
__noinline int end_block_of_left(struct hawk_thread *thread, __u64 address)
{
	if (!thread || !thread->call.sp || !thread->call.old_found || thread->call.old_address != address)
		return 0;
	end_old_block(thread);
	thread->call.old_address = 0;
	return 1;
}

/* The realloc family's old block, once it is known what became of it. */
static __always_inline void settle_old_block(struct hawk_thread *thread, bool failed)
{
	struct hawk_call *call = &thread->call;

	if (!call->old_address)
		return;
	if (failed && hawk_keeps_block(call->kind, call->size_bytes)) {
		put_back(call);
		return;
	}
	if (!call->old_found) {
		count_untraced_free(call->program);
		return;
	}
	end_old_block(thread);
}

/* How a call returns: its result, and the caller's registers then. */
struct hawk_return {
	__u64 result, pc, sp, fp;
	__u64 fp_at;              /* where rbp is saved; 0: in `fp` */
};

/* Where a return is seen. */
enum hawk_seen_at {
	HAWK_SEEN_IN_SESSION,
	HAWK_SEEN_AT_PROBE,       /* the kernel's return probe */
	HAWK_SEEN_BEFORE,         /* inside the function: the return address is still below `sp` */
};

static __always_inline __u32 walked_stack(struct hawk_thread *thread, const struct hawk_return *end,
					  const enum hawk_seen_at seen_at)
{
	switch (seen_at) {
	case HAWK_SEEN_IN_SESSION:
		return stack_from_at_once(thread, end->pc, end->sp, end->fp);
	case HAWK_SEEN_AT_PROBE:
		return stack_from(thread, end->pc, end->sp, end->fp);
	default:
		return stack_above(thread, end->sp, end->fp, end->fp_at);
	}
}

static __always_inline __u32 stack_of_return(struct hawk_thread *thread, const struct hawk_return *end,
					     const enum hawk_seen_at seen_at)
{
	__u32 number = walked_stack(thread, end, seen_at);

	return number != HAWK_NO_STACK ? number : target_of(thread)->no_stack;
}

/* Whether what returns is an open call of the thread, which has its return address at `slot`; it is the newest then. If not,
 * it is nested, or was begun before the trace, or is not the target's. */
static __always_inline bool is_open_call(struct hawk_thread *thread, __u64 slot, bool may_throw)
{
	if (!thread)
		return false;
	if (thread->call.sp == slot && thread->call.may_throw == may_throw)
		return true;
	return (thread->interrupted_count || thread->left_slot == slot) && return_of_other(thread, slot, may_throw);
}

/* The newest call returns. The address that its block, which is complete but for its stack, is to be counted at; 0: none is. */
static __always_inline __u64 end_call(struct hawk_thread *thread, const struct hawk_return *end, struct hawk_block *block)
{
	struct hawk_call *call = &thread->call;
	bool is_alone = !call->rare || settle_rare(call);

	/* Once tracing has stopped, return probes go one by one while entries and frees are no longer seen: the call that seems
	 * open may have returned unseen, and this be the return of another one in the same place. */
	if (!state.enabled || !is_followed(thread))
		return 0;
	__u64 address = returned_address(thread, end->result);

	if (!is_alone && !end_nested(thread, address))
		return 0;
	settle_old_block(thread, address == 0);
	*block = (struct hawk_block){ .size_bytes = call->size_bytes, .program = call->program, .born = state.clock };

	call->sp = 0;
	bool is_inner = resume_call(thread);

	if (!address || block->size_bytes < settings.min_block_bytes)
		return 0;

	if (is_inner)
		note_block_inside(thread, address, block->size_bytes);
	return address;
}

static __always_inline void count_block(struct hawk_thread *thread, __u64 address, struct hawk_block *block,
					const struct hawk_return *end, const enum hawk_seen_at seen_at, struct hawk_tally *tally)
{
	struct hawk_home home = live_expect(thread, block->program, address);

	block->stack = stack_of_return(thread, end, seen_at);
	live_add(thread, address, block, &home, tally);
}

static __always_inline void on_return(struct hawk_thread *thread, const struct hawk_return *end, const enum hawk_seen_at seen_at)
{
	struct hawk_block block;
	struct hawk_tally tally = {};
	__u64 address = end_call(thread, end, &block);

	if (address)
		count_block(thread, address, &block, end, seen_at, &tally);
}

/* At a return probe: ip is the return address, restored, and sp what the ret has left. */
static __always_inline void on_return_probe(struct hawk_thread *thread, struct pt_regs *ctx, const enum hawk_seen_at seen_at)
{
	struct hawk_return end = { .result = ctx->ax, .pc = ctx->ip, .sp = ctx->sp, .fp = ctx->bp };

	if (is_open_call(thread, end.sp - 8, false))
		on_return(thread, &end, seen_at);
}

/* At a probe on an instruction from which a function that may throw returns, all of that still to come. The instruction may
 * belong to other functions too than those it is probed for. */
static __always_inline void on_return_point(struct hawk_thread *thread, struct pt_regs *ctx, __u64 cookie)
{
	if ((cookie & HAWK_COOKIE_RETURNS_IF) && !hawk_condition_holds(ctx->flags, cookie >> HAWK_COOKIE_CONDITION_SHIFT & 15))
		return;
	__u64 slot = ctx->sp + (cookie >> HAWK_COOKIE_SLOT_SHIFT & HAWK_COOKIE_WORDS) * 8;
	struct hawk_return end = { .result = ctx->ax, .sp = slot + 8, .fp = ctx->bp };
	__u32 result_register = cookie >> HAWK_COOKIE_RESULT_SHIFT & 15;
	__u64 saved_rbp = cookie >> HAWK_COOKIE_SAVED_RBP_SHIFT & HAWK_COOKIE_WORDS;

	if (!is_open_call(thread, slot, true))
		return;
	if (saved_rbp)
		end.fp_at = ctx->sp + (saved_rbp - 1) * 8;
	if (result_register)
		end.result = register_value(ctx, result_register);
	on_return(thread, &end, HAWK_SEEN_BEFORE);
}

#endif
