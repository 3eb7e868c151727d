/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The frame-pointer walk.
 *
 * It starts when the allocator has returned: pc is the call's return address, sp the stack pointer there, and rbp the
 * caller's, since the allocator has restored it. So the direct caller is always the first frame, whatever the
 * allocator's first instruction is (the kernel's own walk loses it on Debian's glibc: its entry heuristic knows only
 * push %rbp and endbr64). If that caller is a frameless operator new, a rule made from its code leads to the next frame.
 *
 * Stack memory is read in windows, because one helper call per frame is what a walk costs. */
#ifndef HAWKTRACE_WALK_BPF_H
#define HAWKTRACE_WALK_BPF_H

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

/* One step over a frameless function; false: the current frame is none. */
static __always_inline bool frameless_step(struct hawk_thread *thread)
{
	struct hawk_walk *walk = &thread->walk;
	struct hawk_frameless_rule *rule = frameless_rule(walk->pc);

	if (!rule)
		return false;
	__u64 cfa = walk->sp + rule->cfa_offset_bytes;
	__u64 return_address = 0, fp = walk->fp;

	if (bpf_probe_read_user(&return_address, sizeof(return_address), (void *)(cfa - 8)))
		return false;
	if (rule->rbp_offset_bytes != HAWK_RBP_UNCHANGED &&
	    bpf_probe_read_user(&fp, sizeof(fp), (void *)(walk->sp + rule->rbp_offset_bytes)))
		return false;
	walk->pc = return_address;
	walk->sp = cfa;
	walk->fp = fp;
	walk_push(thread);
	return true;
}

/* Makes the two words at `address` available; false: unreadable. */
static __always_inline bool window_holds(struct hawk_thread *thread, __u64 address)
{
	if (address - thread->window_base <= (HAWK_WINDOW_WORDS - 2) * 8)
		return true;
	thread->window_base = address;
	if (!bpf_probe_read_user(thread->window, HAWK_WINDOW_WORDS * 8, (void *)address))
		return true;
	/* The window reaches past the end of the stack's mapping: the two words alone may still be there. What follows
	 * them was zeroed by the failed read, and a zero return address ends the walk. */
	return !bpf_probe_read_user(thread->window, 16, (void *)address);
}

static __always_inline void walk_frame_pointers(struct hawk_thread *thread)
{
	__u64 fp = thread->walk.fp, hash = thread->walk.hash;
	__u32 depth = thread->walk.depth, truncated = 0;

	thread->window_base = ~0ull / 2;
	if (fp < thread->walk.sp)
		return;
	for (int i = 0; i < HAWK_MAX_FRAMES; i++) {
		if ((fp & 7) || !window_holds(thread, fp))
			break;
		__u64 at = (fp - thread->window_base) >> 3 & (HAWK_WINDOW_WORDS - 1);
		__u64 saved_fp = thread->window[at], pc = thread->window[at + 1];

		if (!pc)
			break;
		if (depth >= settings.max_depth) {
			truncated = 1;
			break;
		}
		thread->frames[depth & (HAWK_MAX_FRAMES - 1)] = pc;
		depth++;
		hash = hawk_hash_frame(hash, pc);
		if (saved_fp <= fp)
			break;
		fp = saved_fp;
	}
	thread->walk.hash = hash;
	thread->walk.depth = depth;
	thread->walk.truncated = truncated;
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
	walk_push(thread);
	for (int step = 0; step < HAWK_MAX_FRAMELESS_STEPS; step++) {
		if (!frameless_step(thread))
			break;
	}
	walk_frame_pointers(thread);
	walk->hash = hawk_hash_frame(walk->hash, walk->truncated);
}

#endif
