/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* From a probe to the number of the stack that it was reached with. */
#ifndef HAWKTRACE_FIND_STACK_BPF_H
#define HAWKTRACE_FIND_STACK_BPF_H

#include "bpf/unwind/intern.bpf.h"
#include "bpf/unwind/memo.bpf.h"

/* In place of a number: the walk is to be done again, through windows. By the caller, since only so many functions may be within one
 * another. */
#define HAWK_WALK_AGAIN (-1)

/* Before a walk: where it reads the stack, and its beginning. */
static __always_inline void begin_walk(struct hawk_thread *thread, struct hawk_walk_start *start, const enum hawk_innermost innermost)
{
	thread->reads_directly = settings.may_read_directly && state.direct_map;
	begin_reading(thread, start, innermost);
}

static __always_inline int number_by_walk(struct hawk_thread *thread, const struct hawk_walk_start from, const bool has_begun,
					  const bool at_once, const enum hawk_innermost innermost)
{
	if (!thread)
		return HAWK_NO_STACK;
	struct hawk_walk_start start = from;
	const __u32 generation = generation_of_walk(thread);
	__u32 number;

	if (!has_begun)
		begin_walk(thread, &start, innermost);
	number = remembered_number(thread, &start, generation);
	if (number != HAWK_NO_STACK)
		return number;
	if (!walk_stack(thread, &start, generation, at_once))
		return HAWK_WALK_AGAIN;
	number = stack_number(thread);
	note_walk(thread, &start, number);
	return number;
}

static __always_inline int number_through_windows(struct hawk_thread *thread, struct hawk_walk_start start,
						  const enum hawk_innermost innermost)
{
	if (!thread || !settings.may_read_directly)
		return HAWK_NO_STACK;
	walk_again(thread, &start, innermost);
	return stack_number(thread);
}

/* Where walks are remembered, points begin theirs without a call: nearly every walk has been made before. */
#define HAWK_WALKS_BEGIN_EARLY HAWK_PAGES_CAN_BE_SHOWN

/* Global functions, which the verifier checks once, and not for each kind of memory that a thread's state can be in and each way
 * that leads here, which takes it half a second. */
__noinline int find_stack(struct hawk_thread *thread, __u64 pc, __u64 sp, __u64 fp)
{
	return number_by_walk(thread, (struct hawk_walk_start){ pc, sp, fp, 0 }, false, false, HAWK_FROM_REGISTERS);
}

__noinline int find_stack_at_once(struct hawk_thread *thread, __u64 pc, __u64 sp, __u64 fp)
{
	return number_by_walk(thread, (struct hawk_walk_start){ pc, sp, fp, 0 }, false, true, HAWK_FROM_REGISTERS);
}

__noinline int find_stack_through_windows(struct hawk_thread *thread, __u64 pc, __u64 sp, __u64 fp)
{
	return number_through_windows(thread, (struct hawk_walk_start){ pc, sp, fp, 0 }, HAWK_FROM_REGISTERS);
}

__noinline int find_stack_above(struct hawk_thread *thread, __u64 pc, __u64 sp, __u64 fp, __u64 fp_at)
{
	return number_by_walk(thread, (struct hawk_walk_start){ pc, sp, fp, fp_at }, HAWK_WALKS_BEGIN_EARLY, false, HAWK_FROM_SLOT);
}

__noinline int find_stack_above_through_windows(struct hawk_thread *thread, __u64 sp, __u64 fp, __u64 fp_at)
{
	return number_through_windows(thread, (struct hawk_walk_start){ 0, sp, fp, fp_at }, HAWK_FROM_SLOT);
}

/* The number of the stack that the allocator was called from; pc, sp, fp: as they are in its caller. */
static __always_inline __u32 stack_from(struct hawk_thread *thread, __u64 pc, __u64 sp, __u64 fp)
{
	int number = find_stack(thread, pc, sp, fp);

	return number == HAWK_WALK_AGAIN ? find_stack_through_windows(thread, pc, sp, fp) : number;
}

/* The same for sessions, where the kernel has stack enough. */
static __always_inline __u32 stack_from_at_once(struct hawk_thread *thread, __u64 pc, __u64 sp, __u64 fp)
{
	int number = find_stack_at_once(thread, pc, sp, fp);

	return number == HAWK_WALK_AGAIN ? find_stack_through_windows(thread, pc, sp, fp) : number;
}

/* The same from inside the allocator, which has its return address below `sp`; rbp will be `fp`, or what is saved at `fp_at`. */
static __always_inline __u32 stack_above(struct hawk_thread *thread, __u64 sp, __u64 fp, __u64 fp_at)
{
	struct hawk_walk_start start = { 0, sp, fp, fp_at };

	if (HAWK_WALKS_BEGIN_EARLY) {
		begin_walk(thread, &start, HAWK_FROM_SLOT);
		const __u32 remembered = number_at_hand(thread, &start, generation_of_walk(thread));

		if (remembered != HAWK_NO_STACK)
			return remembered;
	}
	int number = find_stack_above(thread, start.pc, sp, start.fp, start.fp_at);

	return number == HAWK_WALK_AGAIN ? find_stack_above_through_windows(thread, sp, fp, fp_at) : number;
}

#endif
