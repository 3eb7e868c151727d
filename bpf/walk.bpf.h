/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The frame-pointer walk.
 *
 * It starts when the allocator has returned: pc is the call's return address, sp the stack pointer there, and rbp the
 * caller's, since the allocator has restored it. So the direct caller is always the first frame, whatever the
 * allocator's first instruction is (the kernel's own walk loses it on Debian's glibc: its entry heuristic knows only
 * push %rbp and endbr64). If that caller is a frameless operator new, a rule made from its code leads to the next frame.
 *
 * Stack memory is read where the kernel has it, or else in windows, because calls of helpers are what a walk costs. */
#ifndef HAWKTRACE_WALK_BPF_H
#define HAWKTRACE_WALK_BPF_H

#include "bpf/direct_memory.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/stack_hash.h"

static __always_inline void walk_push(struct hawk_thread *thread)
{
	struct hawk_walk *walk = &thread->walk;
	__u32 at = walk->depth;

	if (at < HAWK_MAX_FRAMES)
		thread->frames[at] = walk->pc;
	walk->depth = at + 1;
	walk->hash = hawk_hash_frame(walk->hash, walk->pc);
}

/* The rule for `pc` when that lies in a frameless function. */
static __always_inline struct hawk_frameless_rule *frameless_rule(__u64 pc)
{
	for (__u32 i = 0; i < HAWK_MAX_FRAMELESS_MODULES; i++) {
		if (i >= state.frameless_count)
			break;
		__u64 vaddr = pc - state.frameless[i].base;

		if (vaddr < state.frameless[i].low || vaddr >= state.frameless[i].high)
			continue;
		__u64 key = (__u64)i << 32 | vaddr;

		return bpf_map_lookup_elem(&frameless_rules, &key);
	}
	return NULL;
}

/* One step over a frameless function; false: the current frame is none. Not static: checked once by the verifier. */
__noinline int frameless_step(struct hawk_thread *thread)
{
	if (!thread)
		return 0;
	struct hawk_walk *walk = &thread->walk;
	struct hawk_frameless_rule *rule = frameless_rule(walk->pc);

	if (!rule)
		return false;
	__u64 cfa = walk->sp + rule->cfa_offset_bytes;
	__u64 return_address = 0, fp = walk->fp;

	if (!read_word(thread, cfa - 8, &return_address))
		return false;
	if (rule->rbp_offset_bytes != HAWK_RBP_UNCHANGED && !read_word(thread, walk->sp + rule->rbp_offset_bytes, &fp))
		return false;
	walk->pc = return_address;
	walk->sp = cfa;
	walk->fp = fp;
	walk_push(thread);
	return true;
}

/* Reads the window that begins at `address`; false: not even two words of it. Not static: checked once by the verifier. */
__noinline int read_window(struct hawk_thread *thread, __u64 address)
{
	if (!thread)
		return 0;
	thread->window_base = address;
	if (!bpf_probe_read_user(thread->window, HAWK_WINDOW_WORDS * 8, (void *)address))
		return 1;
	/* The window reaches past the end of the stack's mapping: the two words alone may still be there. What follows
	 * them was zeroed by the failed read, and a zero return address ends the walk. */
	return !bpf_probe_read_user(thread->window, 16, (void *)address);
}

/* Makes the two words at `address` available; false: unreadable. */
static __always_inline bool window_holds(struct hawk_thread *thread, __u64 address)
{
	return address - thread->window_base <= (HAWK_WINDOW_WORDS - 2) * 8 || read_window(thread, address);
}

/* Where a walk along frame pointers stands. In registers, but for what it leaves in the thread. */
struct fp_walk {
	__u64 fp;
	__u64 hash;
	__u32 depth;
	__u32 truncated;
};

/* Takes the frame that the two words at walk->fp describe; false: the walk ends. */
static __always_inline bool take_frame(struct hawk_thread *thread, struct fp_walk *walk, __u64 saved_fp, __u64 pc)
{
	if (!pc)
		return false;
	if (walk->depth >= settings.max_depth) {
		walk->truncated = 1;
		return false;
	}
	thread->frames[walk->depth & (HAWK_MAX_FRAMES - 1)] = pc;
	walk->depth++;
	walk->hash = hawk_hash_frame(walk->hash, pc);
	if (saved_fp <= walk->fp)
		return false;
	walk->fp = saved_fp;
	return true;
}

static __always_inline void leave_walk(struct hawk_thread *thread, const struct fp_walk *walk)
{
	thread->walk.hash = walk->hash;
	thread->walk.depth = walk->depth;
	thread->walk.truncated = walk->truncated;
}

static __noinline int walk_through_windows(struct hawk_thread *thread)
{
	struct fp_walk walk = { .fp = thread->walk.fp, .hash = thread->walk.hash, .depth = thread->walk.depth };

	thread->window_base = ~0ull / 2;
	for (int i = 0; i < HAWK_MAX_FRAMES; i++) {
		if ((walk.fp & 7) || !window_holds(thread, walk.fp))
			break;
		__u64 at = (walk.fp - thread->window_base) >> 3 & (HAWK_WINDOW_WORDS - 1);

		if (!take_frame(thread, &walk, thread->window[at], thread->window[at + 1]))
			break;
	}
	leave_walk(thread, &walk);
	return 0;
}

/* False: what it left is not to be relied on. */
static __always_inline bool walk_directly(struct hawk_thread *thread)
{
	struct fp_walk walk = { .fp = thread->walk.fp, .hash = thread->walk.hash, .depth = thread->walk.depth };

	if (thread->view.address == HAWK_NO_VIEW &&
	    !find_page(thread->page_tables, state.direct_map, walk.fp, &thread->view))
		return false;
	for (int i = 0; i < HAWK_MAX_FRAMES; i++) {
		__u64 saved_fp, pc;

		if (walk.fp & 7)
			break;
		/* Perhaps a bad pointer, perhaps a page that is not there: the other way to read tells. */
		if (!direct_word(thread, walk.fp, &saved_fp) || !direct_word(thread, walk.fp + 8, &pc))
			return false;
		if (!take_frame(thread, &walk, saved_fp, pc))
			break;
	}
	if (!view_holds(&thread->view))
		return false;
	leave_walk(thread, &walk);
	return true;
}

static __always_inline void walk_frame_pointers(struct hawk_thread *thread)
{
	if (thread->walk.fp < thread->walk.sp)
		return;
	if (settings.may_read_directly && state.direct_map && walk_directly(thread))
		return;
	walk_through_windows(thread);
}

/* Fills thread->frames and thread->walk. pc, sp, fp: as they are in the caller of the allocator. */
static __always_inline void walk_stack(struct hawk_thread *thread, __u64 pc, __u64 sp, __u64 fp)
{
	struct hawk_walk *walk = &thread->walk;

	walk->pc = pc;
	walk->sp = sp;
	walk->fp = fp;
	walk->hash = hawk_hash_start(state.exec_epoch);
	walk->depth = 0;
	walk->truncated = 0;
	thread->view.address = HAWK_NO_VIEW;
	walk_push(thread);
	for (int step = 0; step < HAWK_MAX_FRAMELESS_STEPS; step++) {
		if (!state.frameless_count || !frameless_step(thread))
			break;
	}
	walk_frame_pointers(thread);
	walk->hash = hawk_hash_frame(walk->hash, walk->truncated);
}

#endif
