/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The walk of unwind.h over the target's own stack.
 *
 * It starts when the allocator has returned: pc is the call's return address, sp the stack pointer there, and rbp the
 * caller's, since the allocator has restored it. So the direct caller is always the first frame, whatever the
 * allocator's first instruction is (the kernel's own walk loses it on Debian's glibc: its entry heuristic knows only
 * push %rbp and endbr64).
 *
 * Stack memory is read where the kernel has it, or else in windows, because calls of helpers are what a walk costs. */
#ifndef HAWKTRACE_WALK_BPF_H
#define HAWKTRACE_WALK_BPF_H

#include "bpf/direct_memory.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/rules.bpf.h"

/* Bytes of a window below the word that it is read for: where a caller's rbp is saved. */
#define HAWK_WINDOW_BELOW 64
#define HAWK_WINDOW_SIZE (HAWK_WINDOW_WORDS * 8)

/* Reads a window around `address`; false: not even the rest of its page. Not static: checked once by the verifier. */
__noinline int read_window(struct hawk_thread *thread, __u64 address)
{
	if (!thread)
		return 0;
	__u32 left = HAWK_PAGE_MASK + 1 - (address & HAWK_PAGE_MASK);

	thread->window_base = address - HAWK_WINDOW_BELOW;
	thread->window_bytes = HAWK_WINDOW_SIZE;
	if (!bpf_probe_read_user(thread->window, HAWK_WINDOW_SIZE, (void *)thread->window_base))
		return 1;
	/* It reaches out of the stack's mapping: what is left of this page may still be there. */
	if (left > HAWK_WINDOW_SIZE)
		left = HAWK_WINDOW_SIZE;
	thread->window_base = address;
	thread->window_bytes = left;
	if (!bpf_probe_read_user(thread->window, left, (void *)address))
		return 1;
	thread->window_bytes = 0;
	return 0;
}

static __always_inline bool window_word(struct hawk_thread *thread, __u64 address, __u64 *word)
{
	__u64 offset = address - thread->window_base;

	if (offset >= thread->window_bytes) {
		if (!read_window(thread, address))
			return false;
		offset = address - thread->window_base;
	}
	*word = thread->window[offset >> 3 & (HAWK_WINDOW_WORDS - 1)];
	return true;
}

/* Reads a word that is not in the page in view, into thread->word. Not static: checked once by the verifier. */
__noinline int read_stack_word(struct hawk_thread *thread, __u64 address)
{
	if (!thread || (address & 7))
		return 0;
	if (!settings.may_read_directly || !thread->reads_directly)
		return window_word(thread, address, &thread->word);
	if (turn_view(thread, address)) {
		thread->word = kernel_word(thread->view.shown_at + (address & HAWK_PAGE_MASK));
		return 1;
	}
	/* Perhaps a bad pointer, perhaps a page that is not there: the other way to read tells. */
	thread->reads_directly = 0;
	return 0;
}

/* In one comparison: the address is in the page in view, and a multiple of 8. */
#define HAWK_WORDS_IN_PAGE (HAWK_PAGE_MASK & ~7ull)

static __always_inline bool hawk_stack_word(struct hawk_thread *thread, __u64 address, __u64 *word)
{
	__u64 value;

	if (settings.may_read_directly && !((address ^ thread->view.page) & ~HAWK_WORDS_IN_PAGE)) {
		value = kernel_word(thread->view.shown_at + (address & HAWK_PAGE_MASK));
		/* Or clang makes one load of this and the other, which up to 6.12 may not be of different memory. */
		__asm__ volatile("" : "+r"(value));
	} else {
		if (!read_stack_word(thread, address))
			return false;
		value = thread->word;
	}
	*word = value;
	return true;
}

static __always_inline __u32 hawk_look_up_rule(struct hawk_thread *thread, __u64 address, __u32 generation)
{
	return find_rule(thread, address, generation);
}

static __always_inline __u32 hawk_max_depth(void)
{
	return settings.max_depth;
}

static __always_inline int hawk_step_unruled(struct hawk_thread *thread, __u32 kind);

#define HAWK_GLOBAL __noinline
#include "bpf/unwind.h"

/* Where the kernel's return trampoline lies in this process; 0: it has none. */
static __always_inline __u64 trampoline_address(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct mm_struct *mm = task->mm;

	if (!mm)
		return 0;
	struct xol_area *area = mm->uprobes_state.xol_area;

	return area ? area->vaddr : 0;
}

/* Return probes that one thread can have open, one inside the other. */
#define HAWK_MAX_RETURN_INSTANCES 64

/* The return address that the kernel has replaced at `slot`; 0: it has none. */
static __noinline __u64 replaced_return(__u64 slot, __u64 trampoline)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct return_instance *instance = BPF_CORE_READ(task, utask, return_instances);

	for (int i = 0; i < HAWK_MAX_RETURN_INSTANCES && instance; i++) {
		__u64 replaced = BPF_CORE_READ(instance, orig_ret_vaddr);

		/* Several probes of one call, and tail calls, replace each other's trampoline. */
		if (BPF_CORE_READ(instance, stack) == slot && replaced != trampoline)
			return replaced;
		instance = BPF_CORE_READ(instance, next);
	}
	return 0;
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
	if (!thread || !state.frameless_count)
		return 0;
	struct hawk_walk *walk = &thread->walk;
	struct hawk_frameless_rule *rule = frameless_rule(walk->pc);
	__u64 pc, fp = walk->fp;

	if (!rule)
		return false;
	__u64 cfa = walk->sp + rule->cfa_offset_bytes;

	if (!hawk_stack_word(thread, cfa + HAWK_RETURN_SLOT, &pc))
		return false;
	if (rule->rbp_offset_bytes != HAWK_RBP_UNCHANGED &&
	    !hawk_stack_word(thread, walk->sp + rule->rbp_offset_bytes, &fp))
		return false;
	walk->sp = cfa;
	walk->fp = fp;
	return hawk_push_frame(thread, walk, pc, 0);
}

/* Where no table helps: the address may be the kernel's trampoline in place of another, or lie in a frameless operator new,
 * for which there is a rule made from its code. */
static __always_inline int hawk_step_unruled(struct hawk_thread *thread, __u32 kind)
{
	struct hawk_walk *walk = &thread->walk;

	if (kind == HAWK_RULE_NO_CODE && walk->pc == trampoline_address()) {
		__u64 replaced = replaced_return(walk->sp + HAWK_RETURN_SLOT, walk->pc);

		if (!replaced)
			return HAWK_STEP_NONE;
		hawk_replace_frame(thread, replaced);
		return HAWK_STEP_DONE;
	}
	if (frameless_step(thread))
		return HAWK_STEP_DONE;
	return settings.unwind == HAWK_UNWIND_AUTO ? HAWK_STEP_GUESS : HAWK_STEP_NONE;
}

/* Along frame pointers nothing but the innermost frames is known better. */
static __always_inline bool begin_along_frame_pointers(struct hawk_thread *thread)
{
	thread->walk.is_guessed = 1;
	for (int step = 0; step < HAWK_MAX_FRAMELESS_STEPS; step++) {
		if (!frameless_step(thread))
			break;
	}
	thread->walk.end = HAWK_END_NO_PROGRESS;
	return thread->walk.fp >= thread->walk.sp;
}

/* One walk, from beginning to end. */
static __always_inline void walk_once(struct hawk_thread *thread, __u64 pc, __u64 sp, __u64 fp, __u32 generation)
{
	thread->view.page = HAWK_NO_VIEW;
	thread->window_bytes = 0;
	hawk_begin_walk(thread, hawk_hash_start(state.exec_epoch), pc, sp, fp, generation);
	if (settings.unwind == HAWK_UNWIND_FP && !begin_along_frame_pointers(thread))
		return;
	/* At worst every frame's rule has to be searched for. */
	for (int i = 0; i < HAWK_MAX_FRAMES + HAWK_MAX_FRAMES / HAWK_STEPS_AT_ONCE; i++) {
		if (!hawk_walk_on(thread))
			break;
	}
}

/* Whether what was read directly counts: each page must have been the target's to the end. */
static __always_inline bool walk_holds(const struct hawk_thread *thread)
{
	return thread->reads_directly && (thread->view.page == HAWK_NO_VIEW || view_holds(&thread->view));
}

/* Fills thread->frames and thread->walk. pc, sp, fp: as they are in the caller of the allocator. */
static __always_inline void walk_stack(struct hawk_thread *thread, __u64 pc, __u64 sp, __u64 fp)
{
	__u32 generation = settings.unwind == HAWK_UNWIND_FP ? 0 : rule_generation(thread);

	__u32 reads_directly = settings.may_read_directly && state.direct_map;

	thread->reads_directly = reads_directly;
	for (int attempt = 0; attempt < 2; attempt++) {
		walk_once(thread, pc, sp, fp, generation);
		if (!reads_directly || walk_holds(thread))
			break;
		reads_directly = thread->reads_directly = 0;
	}
	thread->walk.hash = hawk_hash_end(thread->walk.hash, &thread->walk);
}

#endif
