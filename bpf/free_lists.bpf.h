/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Calls that are seen before they have taken their block: it is the first of a free list that belongs to the thread alone, which
 * goes on to take it (userspace/code/yield_plan.h, kYieldAhead). So nothing but the thread itself can come in between: code that a
 * signal makes it run, which may take that block, put others before it, or never return.
 *
 * Nothing is lost by a signal after which the thread allocates and frees nothing before the call has gone on. Whether it has, the
 * list shows when something is seen of the thread again: the block is still the first one as long as nobody has taken it, and cannot
 * be once it has been given to the program. If it still is, the call that is seen now was made by a handler, or the interrupted one
 * was left. What that will get, or would have got, is not known any more (counted): its block stays with it, until another call
 * gets that. */
#ifndef HAWKTRACE_FREE_LISTS_BPF_H
#define HAWKTRACE_FREE_LISTS_BPF_H

#include "bpf/calls.bpf.h"
#include "bpf/yield_points.h"

/* No block's address. */
#define HAWK_UNREADABLE_LIST 1

/* Written by user space, before the probes are made. */
struct hawk_yield_point yield_points[HAWK_MAX_YIELD_POINTS];

/* A class that is known, and of what rounded size; 0 is none. */
#define HAWK_CLASS_BITS 8
#define HAWK_MOST_ROUNDED ((1u << (32 - HAWK_CLASS_BITS)) - 2)

/* Forgets classes that are another table's, or may be: allocators have been mapped since, perhaps in its place. */
static __always_inline void use_table(struct hawk_thread *thread, __u64 classes)
{
	__u32 mapped = target_of(thread)->allocators_mapped;

	if (thread->classes_at == classes && thread->classes_mapped == mapped)
		return;
	__builtin_memset(thread->known_classes, 0, sizeof(thread->known_classes));
	thread->classes_at = classes;
	thread->classes_mapped = mapped;
}

/* The class of a rounded size; false: it cannot be read. What has been read is remembered: to get to where a thread's memory is takes
 * as many loads as all else that is done here. */
static __always_inline bool class_of(struct hawk_thread *thread, __u64 classes, __u32 rounded, __u64 *class)
{
	__u32 *known = &thread->known_classes[rounded & (HAWK_KNOWN_CLASSES - 1)];
	__u64 at = classes + rounded;

	use_table(thread, classes);
	if (rounded <= HAWK_MOST_ROUNDED && *known >> HAWK_CLASS_BITS == rounded + 1) {
		*class = *known & ((1u << HAWK_CLASS_BITS) - 1);
		return true;
	}
	if (!read_target_word(thread, at & ~7ull, class))
		return false;
	*class = *class >> (at & 7) * 8 & 0xff;
	if (rounded <= HAWK_MOST_ROUNDED)
		*known = (rounded + 1) << HAWK_CLASS_BITS | (__u32)*class;
	return true;
}

static __always_inline __u32 rounded_size(const struct hawk_yield_point *point, __u64 size_bytes)
{
	__u32 sum = (__u32)size_bytes + point->size_added;

	return sum >> (point->size_shift & 31);
}

/* The block that a call, which is at the point, is about to take; 0: its list is empty; HAWK_UNREADABLE_LIST: that is not known
 * (counted). `lists`: what is in the point's register. Not static: checked once by the verifier. */
__noinline __u64 first_listed(struct hawk_thread *thread, __u32 number, __u64 ip, __u64 size_bytes, __u64 lists)
{
	const struct hawk_yield_point *point = &yield_points[number & (HAWK_MAX_YIELD_POINTS - 1)];
	__u64 word = 0, at;

	if (!thread)
		return HAWK_UNREADABLE_LIST;
	thread->list_at = 0;
	if (!class_of(thread, ip + point->classes, rounded_size(point, size_bytes), &word))
		goto unreadable;
	at = lists + (word << (point->list_shift & 31)) + point->head;
	word = 0;
	if (!read_target_word(thread, at, &word))
		goto unreadable;
	thread->listed = word;
	thread->listed_ip = ip;
	thread->list_at = at;
	thread->role = word ? HAWK_YIELDS_ALL : HAWK_YIELDS_SIZE;
	return word;

unreadable:
	count_loss(program_of(thread), HAWK_LOSS_UNREADABLE_RESULT);
	return HAWK_UNREADABLE_LIST;
}

/* Whether a hit of the probe shows where a call ends that was opened before. */
static __always_inline bool shows_end(__u64 cookie)
{
	__u32 number = cookie >> HAWK_COOKIE_POINT_SHIFT & (HAWK_MAX_YIELD_POINTS - 1);

	return (cookie & HAWK_COOKIE_POINT) && yield_points[number].role == HAWK_YIELDS_RESULT;
}

/* Whether the block that was to be taken is there still, or may be. Not static: checked once by the verifier. */
__noinline int is_still_listed(struct hawk_thread *thread)
{
	if (!thread || !thread->listed)
		return 0;
	return !read_target_word(thread, thread->list_at, &thread->first_listed) || thread->first_listed == thread->listed;
}

/* The thread, which a signal has interrupted, comes by a probe again, or ends. Not static: checked once by the verifier. */
__noinline int settle_interrupted(struct hawk_thread *thread, __u64 cookie)
{
	if (!thread)
		return 0;
	/* A call that has been opened may have found a block of the handler's in the list, which is seen nowhere. */
	if (thread->listed ? is_still_listed(thread) : thread->call.sp && !shows_end(cookie))
		count_loss(program_of(thread), HAWK_LOSS_LOST_CALL);
	end_interruption(thread);
	return 0;
}

/* The thread comes by a probe. Whatever that is about, the call that was seen last is through, or its thread is in a handler. */
static __always_inline void note_seen(struct hawk_thread *thread, __u64 cookie)
{
	if (!thread)
		return;
	if (thread->is_interrupted)
		settle_interrupted(thread, cookie);
	thread->list_at = 0;
}

/* The current thread, which is one of a target's, ends. If its memory is gone already, more is not known than that it was
 * interrupted (close_calls). */
static __always_inline void note_end(struct hawk_thread *thread)
{
	if (thread->is_interrupted && thread->listed && BPF_CORE_READ(bpf_get_current_task_btf(), mm))
		settle_interrupted(thread, 0);
}

/* Whether the current thread, which makes a process, is in a handler that has interrupted a call whose block the process is given as
 * well. */
static __always_inline bool is_before_block(struct hawk_thread *thread)
{
	return thread && thread->is_interrupted && is_still_listed(thread);
}

/* A handler is about to run for a signal. It interrupts the call that was seen last only near its point, and at the same depth of
 * the stack. */
static __always_inline void on_handler(struct hawk_thread *thread)
{
	const struct pt_regs *registers = (const void *)bpf_task_pt_regs(bpf_get_current_task_btf());

	if (!thread || !thread->list_at || thread->is_interrupted || registers->sp != thread->listed_sp ||
	    registers->ip - thread->listed_ip + HAWK_LONGEST_WAY > 2 * HAWK_LONGEST_WAY)
		return;
	thread->is_interrupted = 1;
	__sync_fetch_and_add(&target_of(thread)->interrupted_calls, 1);
}

#endif
