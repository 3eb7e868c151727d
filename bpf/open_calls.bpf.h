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

static __noinline __u32 look_at_slot(struct hawk_thread *thread, const struct hawk_call *call, __u64 *word)
{
	__u64 trampoline = trampoline_address();

	/* What cannot be read tells nothing. */
	if (!read_target_word(thread, call->sp, word))
		return HAWK_SLOT_INTACT;
	if (trampoline && *word == trampoline)
		return HAWK_SLOT_HAS_TRAMPOLINE;
	return call->may_throw && *word == call->return_address ? HAWK_SLOT_INTACT : HAWK_SLOT_USED_AGAIN;
}

/* The newest of the interrupted calls becomes the newest open one. */
static __always_inline void resume_call(struct hawk_thread *thread)
{
	__u32 last = thread->interrupted_count - 1;

	if (last >= HAWK_INTERRUPTED_CALLS)
		return;
	thread->interrupted_count = last;
	thread->call = thread->interrupted[last];
}

/* Forgets the newest call, which was left as it seems. Should it return all the same, that is seen by its slot. */
static __noinline void leave_newest(struct hawk_thread *thread, __u64 word)
{
	thread->left_slot = thread->call.may_throw ? thread->call.sp : 0;
	thread->left_word = word;
	abandon(&thread->call, !thread->call.may_throw);
	resume_call(thread);
}

/* The newest call is interrupted by another that begins. */
static __noinline void interrupt_newest(struct hawk_thread *thread)
{
	__u32 count = thread->interrupted_count;

	if (count >= HAWK_INTERRUPTED_CALLS) {
		/* The oldest may be open still, but there is no room for more. */
		abandon(&thread->interrupted[0], false);
		count_loss(HAWK_LOSS_LOST_CALL);
		for (int i = 0; i + 1 < HAWK_INTERRUPTED_CALLS; i++)
			thread->interrupted[i] = thread->interrupted[i + 1];
		count = HAWK_INTERRUPTED_CALLS - 1;
	}
	if (!thread->call.may_throw && !thread->call.is_doubted) {
		thread->call.is_doubted = 1;
		__sync_fetch_and_add(&state.doubted_calls, 1);
	}
	thread->interrupted[count & (HAWK_INTERRUPTED_CALLS - 1)] = thread->call;
	thread->interrupted_count = count + 1;
	thread->call.sp = 0;
}

/* Whether code of an allocator is what calls at `sp`. */
static __noinline bool called_by_allocator(struct hawk_thread *thread, __u64 sp)
{
	__u64 caller = 0;

	if (!read_target_word(thread, sp, &caller))
		return false;
	return caller == trampoline_address() || in_allocator_file(caller);
}

/* Whether a call at `sp` that is neither nested nor anything of its own comes from inside an allocator's. */
static __noinline bool is_inside(struct hawk_thread *thread, __u64 sp)
{
	__u64 word = 0;

	return look_at_slot(thread, &thread->call, &word) != HAWK_SLOT_USED_AGAIN && called_by_allocator(thread, sp);
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

/* What the newest call is, seen from an entry at `sp`. */
static __noinline __u32 judge_newest(struct hawk_thread *thread, __u64 sp, __u32 entry, __u64 *word)
{
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

/* Entry in a thread that has an open call. Returns whether the entry is a call of its own: then none is the newest. Not static:
 * checked once by the verifier. */
__noinline int enter_inside(struct hawk_thread *thread, __u64 sp, __u32 entry)
{
	__u32 newest = HAWK_NEWEST_IS_LEFT;

	if (!thread)
		return 0;
	for (int i = 0; i <= HAWK_INTERRUPTED_CALLS && thread->call.sp; i++) {
		__u64 word = 0;

		newest = judge_newest(thread, sp, entry, &word);
		if (newest != HAWK_NEWEST_IS_LEFT)
			break;
		leave_newest(thread, word);
	}
	if (sp == thread->left_slot)
		thread->left_slot = 0;
	if (!thread->call.sp)
		return 1;
	if (newest == HAWK_NEWEST_IS_IN_DANGER) {
		count_loss(HAWK_LOSS_LOST_CALL);
		return 0;
	}
	if (newest == HAWK_NEWEST_IS_OPEN && !called_by_allocator(thread, sp)) {
		interrupt_newest(thread);
		return 1;
	}
	thread->call.nested++;
	book_allocated_on(HAWK_NESTED, 0, 1);
	return 0;
}

/* A return that is not the newest call's: if it is an interrupted one's, that becomes the newest, as the others have been left
 * or go on in a coroutine. Returns whether it is. Not static: checked once by the verifier. */
__noinline int return_of_other(struct hawk_thread *thread, __u64 slot, int may_throw)
{
	if (!thread)
		return 0;
	for (__u32 i = 0; i < HAWK_INTERRUPTED_CALLS && i < thread->interrupted_count; i++) {
		struct hawk_call *call = &thread->interrupted[i];

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
		count_loss(HAWK_LOSS_LOST_CALL);
	}
	return 0;
}

static __always_inline void close_call(struct hawk_call *call, bool is_loss)
{
	if (!call->sp)
		return;
	if (!is_loss)
		settle_nested(call);
	abandon(call, is_loss && !call->may_throw);
}

/* Closes all calls of a thread that ends. Not static: checked once by the verifier. */
__noinline int close_calls(struct hawk_thread *thread, int is_loss)
{
	if (!thread)
		return 0;
	for (__u32 i = 0; i < HAWK_INTERRUPTED_CALLS && i < thread->interrupted_count; i++)
		close_call(&thread->interrupted[i], is_loss);
	close_call(&thread->call, is_loss);
	thread->interrupted_count = 0;
	thread->left_slot = 0;
	return 0;
}

static __always_inline void forget_call(struct hawk_call *call)
{
	if (!call->sp)
		return;
	if (call->old_found)
		leave_hand(call);
	call->old_found = 0;
	settle_nested(call);
	settle_doubt(call);
	call->sp = 0;
}

/* The thread's calls and their blocks are gone, as its memory is. */
static __noinline void forget_calls(struct hawk_thread *thread)
{
	for (__u32 i = 0; i < HAWK_INTERRUPTED_CALLS && i < thread->interrupted_count; i++)
		forget_call(&thread->interrupted[i]);
	forget_call(&thread->call);
	thread->interrupted_count = 0;
	thread->left_slot = 0;
}

#endif
