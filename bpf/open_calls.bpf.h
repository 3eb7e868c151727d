/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A thread's open calls where there is more than one, or where it is in doubt whether the newest still is: see the table in
 * calls.bpf.h, which includes this. What nearly every call needs is not here. */
#ifndef HAWKTRACE_OPEN_CALLS_BPF_H
#define HAWKTRACE_OPEN_CALLS_BPF_H

/* What the return slot of an open call shows. */
enum hawk_slot_shows {
	HAWK_SLOT_USED_AGAIN,      /* it was left */
	HAWK_SLOT_INTACT,
	HAWK_SLOT_HAS_TRAMPOLINE,
};

/* Whether `word`, which is at `slot`, stands for `return_address`. Who traces the same function in another process has a return
 * probe in this one as well: the kernel takes the answer of its pid filter for a request. */
static __always_inline bool stands_for(__u64 word, __u64 slot, __u64 return_address)
{
	if (word == return_address)
		return true;
	__u64 trampoline = trampoline_address();

	return trampoline && word == trampoline && replaced_return(slot, trampoline) == return_address;
}

/* Whether `word`, in the slot of a call that may throw, stands for the call's return address. */
static __always_inline bool is_return_address(const struct hawk_call *call, __u64 word)
{
	return stands_for(word, call->sp, call->return_address);
}

static __noinline __u32 look_at_slot(struct hawk_thread *thread, const struct hawk_call *call, __u64 *word)
{
	/* What cannot be read says nothing. */
	if (!read_target_word(thread, call->sp, word))
		return HAWK_SLOT_INTACT;
	if (call->may_throw)
		return is_return_address(call, *word) ? HAWK_SLOT_INTACT : HAWK_SLOT_USED_AGAIN;
	__u64 trampoline = trampoline_address();

	return trampoline && *word == trampoline ? HAWK_SLOT_HAS_TRAMPOLINE : HAWK_SLOT_USED_AGAIN;
}

/* Apart, or copies of many words at once would take stack, of which calls together have little. */
static __noinline void copy_call(struct hawk_call *to, const struct hawk_call *from)
{
	*to = *from;
}

static __noinline bool resume_interrupted(struct hawk_thread *thread)
{
	__u32 last = thread->interrupted_count - 1;

	if (last >= HAWK_INTERRUPTED_CALLS)
		return false;
	thread->interrupted_count = last;
	thread->call = thread->interrupted[last];
	return true;
}

/* The newest of the interrupted calls becomes the newest open one. Returns whether there is one. */
static __always_inline bool resume_call(struct hawk_thread *thread)
{
	return thread->interrupted_count && resume_interrupted(thread);
}

/* Forgets the newest call, which was left as it seems. Should it return all the same, that is seen by its slot. */
static __always_inline void leave_newest(struct hawk_thread *thread, __u64 word)
{
	thread->left_slot = thread->call.may_throw ? thread->call.sp : 0;
	thread->left_word = word;
	abandon(&thread->call, is_missed(&thread->call));
	resume_call(thread);
}

/* A call has begun in `call` that may be nested. */
static __always_inline void expect_nested(struct hawk_call *call)
{
	call->nested++;
	count_allocated_apart(reserved_number(call->program, HAWK_NESTED), 0, 1);
}

/* The newest call is interrupted by another that begins, which may be nested in it. */
static __noinline void interrupt_newest(struct hawk_thread *thread, bool by_nested)
{
	__u32 count = thread->interrupted_count;

	if (count >= HAWK_INTERRUPTED_CALLS) {
		/* The oldest may be open still, but there is no room for more. */
		abandon(&thread->interrupted[0], false);
		count_loss(program_of(thread), HAWK_LOSS_LOST_CALL);
		for (int i = 0; i + 1 < HAWK_INTERRUPTED_CALLS; i++)
			copy_call(&thread->interrupted[i], &thread->interrupted[i + 1]);
		count = HAWK_INTERRUPTED_CALLS - 1;
	}
	if (by_nested) {
		expect_nested(&thread->call);
	} else if (is_missed(&thread->call) && !thread->call.is_doubted) {
		thread->call.is_doubted = 1;
		__sync_fetch_and_add(&target_of(thread)->doubted_calls, 1);
	}
	copy_call(&thread->interrupted[count & (HAWK_INTERRUPTED_CALLS - 1)], &thread->call);
	thread->interrupted_count = count + 1;
	thread->call.sp = 0;
	thread->call.may_be_nested = 0;
	thread->call.inner_address = 0;
}

#include "bpf/nested_calls.bpf.h"

/* Whether a call at `sp` that cannot be followed may be a part of an allocator's. */
static __always_inline bool is_inside(struct hawk_thread *thread, __u64 sp, __u64 fp)
{
	__u64 word = 0;

	return look_at_slot(thread, &thread->call, &word) != HAWK_SLOT_USED_AGAIN &&
	       relation_to_newest(thread, sp, fp) == HAWK_MAY_BE_NESTED;
}

/* What an entry is that meets an open call. */
#define HAWK_ENTRY_MAY_THROW 1u
#define HAWK_ENTRY_IN_SESSION 2u

/* Whether a signal handler on a stack of its own runs at `sp`. */
static __always_inline bool on_signal_stack(__u64 sp)
{
	struct task_struct *task = bpf_get_current_task_btf();

	return sp - task->sas_ss_sp < task->sas_ss_size;
}

enum hawk_newest {
	HAWK_NEWEST_IS_LEFT,
	HAWK_NEWEST_IS_OPEN,       /* for all that is seen */
	HAWK_NEWEST_IS_CALLER,     /* the entry is a tail call of it */
	HAWK_NEWEST_IS_IN_DANGER,  /* a return probe of the entry's would end the process */
};

/* What the newest call is, seen from an entry at `sp`. Not static: checked once by the verifier. */
__noinline int judge_newest(struct hawk_thread *thread, __u64 sp, __u32 entry, __u64 *word)
{
	if (!thread || !word)
		return HAWK_NEWEST_IS_LEFT;
	const struct hawk_call *call = &thread->call;
	__u32 shows = look_at_slot(thread, call, word);

	if (shows == HAWK_SLOT_USED_AGAIN)
		return HAWK_NEWEST_IS_LEFT;
	if (sp == call->sp)
		return call->may_throw ? HAWK_NEWEST_IS_LEFT : HAWK_NEWEST_IS_CALLER;
	if (call->may_throw || (entry & HAWK_ENTRY_MAY_THROW) || sp < call->sp)
		return HAWK_NEWEST_IS_OPEN;
	/* With a return probe at this entry the kernel gives up those below (arch_uretprobe_is_alive knows of one stack only), and
	 * kills the process when one of them returns after all. A session can do without it. */
	if ((entry & HAWK_ENTRY_IN_SESSION) && on_signal_stack(sp) && !on_signal_stack(call->sp))
		return HAWK_NEWEST_IS_IN_DANGER;
	return HAWK_NEWEST_IS_LEFT;
}

/* What becomes of an entry in a thread that has an open call. */
enum hawk_inside {
	HAWK_INSIDE_NOTHING,       /* no call is opened: it is a tail call of the open one, or cannot be followed */
	HAWK_INSIDE_OWN,           /* a call of the program's */
	HAWK_INSIDE_UNKNOWN,       /* a call that may be nested */
};

/* Forgets the newest calls that were left, seen from an entry at `sp`. Returns enum hawk_newest; HAWK_NEWEST_IS_LEFT: none is
 * open. Not static: checked once by the verifier. */
__noinline int forget_left(struct hawk_thread *thread, __u64 sp, __u32 entry)
{
	if (!thread)
		return HAWK_NEWEST_IS_LEFT;
	for (int i = 0; i <= HAWK_INTERRUPTED_CALLS && thread->call.sp; i++) {
		__u64 word = 0;
		__u32 newest = judge_newest(thread, sp, entry, &word);

		if (newest != HAWK_NEWEST_IS_LEFT)
			return newest;
		leave_newest(thread, word);
	}
	return HAWK_NEWEST_IS_LEFT;
}

/* The same for the newest call alone, whose stack is in use again. Not static: checked once by the verifier. */
__noinline int forget_newest(struct hawk_thread *thread)
{
	__u64 word = 0;

	if (!thread)
		return 0;
	look_at_slot(thread, &thread->call, &word);
	leave_newest(thread, word);
	return 0;
}

/* An entry at `sp` meets a call that is not left. Returns enum hawk_inside. Not static: checked once by the verifier. */
__noinline int enter_open_call(struct hawk_thread *thread, __u64 sp, __u32 newest, __u32 relation)
{
	if (!thread)
		return HAWK_INSIDE_NOTHING;
	if (sp == thread->left_slot)
		thread->left_slot = 0;
	switch (newest) {
	case HAWK_NEWEST_IS_LEFT:
		return HAWK_INSIDE_OWN;
	case HAWK_NEWEST_IS_IN_DANGER:
		count_loss(program_of(thread), HAWK_LOSS_LOST_CALL);
		return HAWK_INSIDE_NOTHING;
	case HAWK_NEWEST_IS_CALLER:
		expect_nested(&thread->call);
		return HAWK_INSIDE_NOTHING;
	default:
		interrupt_newest(thread, relation == HAWK_MAY_BE_NESTED);
		return relation == HAWK_MAY_BE_NESTED ? HAWK_INSIDE_UNKNOWN : HAWK_INSIDE_OWN;
	}
}

/* Entry at `sp` in a thread that has an open call; rbp is `fp`. Returns enum hawk_inside; if it is to be opened, none is the
 * newest. Inlined: calls can only be so deep, and a walk's are the deepest. */
static __always_inline int enter_inside(struct hawk_thread *thread, __u64 sp, __u64 fp, __u32 entry)
{
	__u32 newest = HAWK_NEWEST_IS_LEFT, relation = HAWK_IS_PROGRAMS;

	for (int i = 0; i <= HAWK_INTERRUPTED_CALLS; i++) {
		newest = forget_left(thread, sp, entry);
		relation = newest == HAWK_NEWEST_IS_OPEN ? relation_to_newest(thread, sp, fp) : HAWK_IS_PROGRAMS;
		if (relation != HAWK_OPEN_CALL_LEFT)
			break;
		forget_newest(thread);
		newest = HAWK_NEWEST_IS_LEFT;
	}
	return enter_open_call(thread, sp, newest, relation);
}

/* A return that is not the newest call's: if it is an interrupted one's, that becomes the newest, as the others have been left
 * or go on in a coroutine. Returns whether it is. Not static: checked once by the verifier. */
__noinline int return_of_other(struct hawk_thread *thread, __u64 slot, int may_throw)
{
	if (!thread)
		return 0;
	for (__u32 i = 0; i < HAWK_INTERRUPTED_CALLS && i < thread->interrupted_count; i++) {
		/* The latest first: older ones in the same place were left by an exception. */
		struct hawk_call *call = &thread->interrupted[(thread->interrupted_count - 1 - i) & (HAWK_INTERRUPTED_CALLS - 1)];

		if (call->sp != slot || call->may_throw != may_throw)
			continue;
		struct hawk_call newest = thread->call;

		thread->call = *call;
		*call = newest;
		return 1;
	}
	__u64 word = 0;

	if (may_throw && slot == thread->left_slot && read_target_word(thread, slot, &word) && word == thread->left_word) {
		thread->left_slot = 0;
		count_loss(program_of(thread), HAWK_LOSS_LOST_CALL);
	}
	return 0;
}

static __always_inline void close_call(struct hawk_call *call, bool is_loss)
{
	if (!call->sp)
		return;
	if (!is_loss)
		settle_nested(call);
	abandon(call, is_loss && is_missed(call));
}

/* Closes all calls of a thread that ends. Not static: checked once by the verifier. */
__noinline int close_calls(struct hawk_thread *thread, int is_loss)
{
	if (!thread)
		return 0;
	for (__u32 i = 0; i < HAWK_INTERRUPTED_CALLS && i < thread->interrupted_count; i++)
		close_call(&thread->interrupted[i], is_loss);
	close_call(&thread->call, is_loss);
	/* A call that it may have left was counted. */
	if (thread->is_interrupted)
		count_loss(program_of(thread), HAWK_LOSS_LOST_CALL);
	end_interruption(thread);
	thread->interrupted_count = 0;
	thread->left_slot = 0;
	return 0;
}

/* Not static: checked once by the verifier. */
__noinline int forget_call(struct hawk_call *call)
{
	if (!call || !call->sp)
		return 0;
	if (call->old_found)
		leave_hand(call);
	call->old_found = 0;
	settle_nested(call);
	settle_doubt(call);
	call->sp = 0;
	call->may_be_nested = 0;
	call->inner_address = 0;
	return 0;
}

/* The thread's calls and their blocks are gone, as its memory is. */
static __noinline void forget_calls(struct hawk_thread *thread)
{
	for (__u32 i = 0; i < HAWK_INTERRUPTED_CALLS && i < thread->interrupted_count; i++)
		forget_call(&thread->interrupted[i]);
	forget_call(&thread->call);
	end_interruption(thread);
	thread->interrupted_count = 0;
	thread->left_slot = 0;
}

#endif
