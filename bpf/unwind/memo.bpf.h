/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The walks that a thread remembers (memo.h), where words of the stack can be read at once. */
#ifndef HAWKTRACE_MEMO_BPF_H
#define HAWKTRACE_MEMO_BPF_H

#include "bpf/loops.bpf.h"
#include "bpf/unwind/intern.bpf.h"

static __always_inline int hawk_show_page(struct hawk_thread *thread, __u64 page)
{
	return thread->view.page == page || turn_view(thread, page);
}

static __always_inline const void *hawk_view(const struct hawk_thread *thread)
{
	return bpf_rdonly_cast((void *)thread->view.shown_at, 0);
}

static __always_inline __u64 hawk_word_in_view(const void *view, __u64 place)
{
	return *(const __u64 *)(view + place);
}

static __always_inline int hawk_view_is_true(const struct hawk_thread *thread)
{
	return view_holds(&thread->view);
}

static __always_inline __u64 hawk_any_run_differs(struct hawk_thread *thread, struct hawk_memo *memo, __u32 run, __u64 first_block);

#include "bpf/unwind/memo.h"

/* Not static: checked once by the verifier. */
__noinline int run_differs(struct hawk_thread *thread, struct hawk_memo *memo, __u32 run, __u64 first_block)
{
	return !thread || !memo || !HAWK_PAGES_CAN_BE_SHOWN || hawk_run_differs(thread, memo, run, first_block, HAWK_MEMO_MOST_BLOCKS);
}

static __always_inline __u64 hawk_any_run_differs(struct hawk_thread *thread, struct hawk_memo *memo, __u32 run, __u64 first_block)
{
	return (__u64)run_differs(thread, memo, run, first_block);
}

/* The number of the stack that the walk from here would lead to; HAWK_NO_STACK: it has to be made. */
static __always_inline __u32 remembered_number(struct hawk_thread *thread, const struct hawk_walk_start *start, __u32 generation)
{
	if (!HAWK_PAGES_CAN_BE_SHOWN || !thread->reads_directly)
		return HAWK_NO_STACK;
	return hawk_remembered_number(thread, start->pc, start->sp, start->fp, generation);
}

/* The same for most walks, where every event comes by. */
static __always_inline __u32 number_at_hand(struct hawk_thread *thread, const struct hawk_walk_start *start, __u32 generation)
{
	if (!HAWK_PAGES_CAN_BE_SHOWN || !thread->reads_directly)
		return HAWK_NO_STACK;
	return hawk_number_at_hand(thread, start->pc, start->sp, start->fp, generation);
}

static long remember_step(__u32 round, struct hawk_thread **thread)
{
	return !hawk_remember_step(*thread);
}

/* Remembers the walk that has just been made. Not static: checked once by the verifier. */
__noinline int remember_walk(struct hawk_thread *thread, __u64 pc, __u64 sp, __u64 fp, __u32 number)
{
	if (!thread || !HAWK_PAGES_CAN_BE_SHOWN)
		return 0;
	const __u64 hash = thread->walk.hash;

	hawk_begin_remembering(thread, pc, sp, fp);
	hawk_begin_walk(thread, start_of_hash(thread), pc, sp, fp, thread->walk.generation);
	loop_apart(HAWK_MAX_FRAMES, remember_step, &thread);
	hawk_end_remembering(thread, hash, number);
	return 0;
}

/* After a walk that has led to this number. */
static __always_inline void note_walk(struct hawk_thread *thread, const struct hawk_walk_start *start, __u32 number)
{
	const struct hawk_walk *walk = &thread->walk;

	if (!HAWK_PAGES_CAN_BE_SHOWN || number == HAWK_NO_STACK || walk->end != HAWK_END_OUTERMOST || walk->is_guessed ||
	    !walk->generation)
		return;
	if (hawk_is_worth_remembering(thread, start->pc, start->sp, number))
		remember_walk(thread, start->pc, start->sp, start->fp, number);
}

#endif
