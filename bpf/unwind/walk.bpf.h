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

#include "bpf/arch/x86_64/direct_memory.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/unwind/replaced_returns.bpf.h"
#include "bpf/unwind/rules.bpf.h"
#include "bpf/unwind/stack_hash.h"

/* Bytes of a window below the word that it is read for: where a caller's rbp is saved. */
#define HAWK_WINDOW_BELOW 64
#define HAWK_WINDOW_SIZE (HAWK_WINDOW_WORDS * 8)

/* Reads a window around `address`; false: not even the rest of its page. */
static __always_inline int read_window(struct hawk_thread *thread, __u64 address)
{
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

/* In one comparison: an address is in the page in view, and a multiple of 8. */
#define HAWK_WORDS_IN_PAGE (HAWK_PAGE_MASK & ~7ull)

/* A word in view, of the page or the window. */
static __always_inline bool word_in_view(const struct hawk_thread *thread, __u64 address, __u64 *word)
{
	__u64 offset = address - thread->window_base;

	if (settings.may_read_directly && !((address ^ thread->view.page) & ~HAWK_WORDS_IN_PAGE)) {
		__u64 shown = kernel_word(thread->view.shown_at + (address & HAWK_WORDS_IN_PAGE));

		/* Or clang makes one load of this and the other, which up to 6.12 may not be of different memory. */
		__asm__ volatile("" : "+r"(shown));
		*word = shown;
		return true;
	}
	if (offset >= thread->window_bytes || (offset & 7))
		return false;
	*word = thread->window[offset >> 3 & (HAWK_WINDOW_WORDS - 1)];
	return true;
}

/* A word of the target's memory, wherever it is; false: it cannot be read. Not while a walk is under way. A zero that was read
 * directly may be a page that the kernel has not mapped (page_is_shown). Not static: checked once by the verifier; up to 6.2 functions
 * are given initialized memory only. */
__noinline int read_target_word(struct hawk_thread *thread, __u64 address, __u64 *word)
{
	if (!thread || !word)
		return 0;
	if (settings.may_read_directly && state.direct_map && !(address & 7) &&
	    find_page(thread->page_tables, state.direct_map, address, &thread->view)) {
		*word = kernel_word(thread->view.shown_at + (address & HAWK_PAGE_MASK));
		if (*word && view_holds(&thread->view))
			return 1;
	}
	return !bpf_probe_read_user(word, sizeof(*word), (void *)address);
}

/* From where plain steps read the stack. */
struct hawk_reader {
	__u64 origin;             /* the page in view */
	const void *shown;        /* and where the kernel has it */
	struct hawk_thread *thread; /* instead of both; NULL: they are there */
};

#define HAWK_LAST_WORD_IN_PAGE (HAWK_PAGE_MASK & ~7ull)

static __always_inline bool hawk_words_at_hand(const struct hawk_reader *reader, __u64 first, __u64 second,
					       struct hawk_two_words *words)
{
	if (reader->thread)
		return word_in_view(reader->thread, first, &words->first) && word_in_view(reader->thread, second, &words->second);
	if (first > HAWK_LAST_WORD_IN_PAGE || second > HAWK_LAST_WORD_IN_PAGE)
		return false;
	words->first = *(const __u64 *)(reader->shown + first);
	words->second = *(const __u64 *)(reader->shown + second);
	return true;
}

/* Brings the page or window with this word into view; false: there is none. Not static: checked once by the verifier. */
__noinline int bring_into_view(struct hawk_thread *thread, __u64 address)
{
	if (!thread || (address & 7))
		return false;
	if (!settings.may_read_directly || !thread->reads_directly)
		return read_window(thread, address);
	if (turn_view(thread, address) && page_is_shown(&thread->view, address))
		return true;
	/* Perhaps a bad pointer, perhaps a page that is not there or not shown: the other way to read shows which. */
	thread->reads_directly = 0;
	return false;
}

/* Not static: checked once by the verifier; up to 6.2 functions are given initialized memory only. */
__noinline int hawk_stack_word(struct hawk_thread *thread, __u64 address, __u64 *word)
{
	if (!thread || !word)
		return 0;
	return word_in_view(thread, address, word) ||
	       (bring_into_view(thread, address) && word_in_view(thread, address, word));
}

/* The same, for what every walk needs: without a call if it can be. */
static __always_inline bool first_stack_word(struct hawk_thread *thread, __u64 address, __u64 *word)
{
	return word_in_view(thread, address, word) || hawk_stack_word(thread, address, word);
}

static __always_inline __u32 hawk_look_up_rule(struct hawk_thread *thread, __u64 address, __u32 generation)
{
	return find_rule(thread, address, generation);
}

static __always_inline __u32 hawk_max_depth(void)
{
	return settings.max_depth;
}

static __always_inline __u64 hawk_mixed(__u64 frame)
{
	return hawk_mix_frame(settings.hash_key.addend, settings.hash_key.multiplier, frame);
}

static __always_inline __u64 hawk_trampoline(void)
{
	return trampoline_address();
}

static __always_inline __u64 hawk_replaced_return(struct hawk_thread *thread, __u64 slot, __u64 trampoline)
{
	return replaced_return(slot, trampoline);
}

static __always_inline int hawk_step_unruled(struct hawk_thread *thread);

static __always_inline int hawk_walk_plainly(struct hawk_thread *thread);

#include "bpf/unwind/unwind.h"

static __always_inline int step_in_shown_page(struct hawk_thread *thread)
{
	struct hawk_reader reader = {
		.origin = thread->view.page,
		.shown = bpf_rdonly_cast((void *)thread->view.shown_at, 0),
	};

	if ((thread->walk.sp ^ reader.origin) & ~HAWK_WORDS_IN_PAGE)
		return 0;
	return hawk_take_plain_steps(thread, reader);
}

/* Not static: checked once by the verifier. */
__noinline int walk_in_shown_page(struct hawk_thread *thread)
{
	return thread && HAWK_PAGES_CAN_BE_SHOWN ? step_in_shown_page(thread) : 0;
}

/* Not static: checked once by the verifier. */
__noinline int walk_in_view(struct hawk_thread *thread)
{
	struct hawk_reader reader = { .thread = thread };

	if (!thread)
		return 0;
	/* Where pages can be shown this is rare, and each step that the verifier sees takes it as long as a hundred instructions. */
	if (HAWK_PAGES_CAN_BE_SHOWN)
		return hawk_take_plain_steps_in_one_loop(thread, reader, HAWK_STEPS_WHERE_RARE);
	return hawk_take_plain_steps_in_one_loop(thread, reader, HAWK_STEPS_AT_ONCE);
}

static __always_inline int hawk_walk_plainly(struct hawk_thread *thread)
{
	if (HAWK_PAGES_CAN_BE_SHOWN && thread->reads_directly)
		return walk_in_shown_page(thread);
	return walk_in_view(thread);
}

/* The rule for `pc` when that lies in an operator new without a frame pointer. */
static __always_inline struct hawk_operator_rule *operator_rule_at(const struct hawk_target *target, __u64 pc)
{
	for (__u32 i = 0; i < HAWK_MAX_OPERATOR_FILES; i++) {
		if (i >= target->files.operator_file_count)
			break;
		__u64 vaddr = pc - target->files.operator_files[i].base;

		if (vaddr < target->files.operator_files[i].low || vaddr >= target->files.operator_files[i].high)
			continue;
		__u64 key = (__u64)target->files.operator_files[i].number << 32 | vaddr;

		return bpf_map_lookup_elem(&operator_rules, &key);
	}
	return NULL;
}

/* One step over an operator new without a frame pointer; false: the current frame is none. Not static: checked once by the verifier. */
__noinline int operator_step(struct hawk_thread *thread)
{
	if (!thread || !target_of(thread)->files.operator_file_count)
		return 0;
	struct hawk_walk *walk = &thread->walk;
	struct hawk_operator_rule *rule = operator_rule_at(target_of(thread), hawk_last_pc(thread));
	__u64 pc = 0, fp = walk->fp;

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
	return hawk_push_frame(thread, pc, 0);
}

/* Where no table helps: the address may lie in an operator new without a frame pointer, for which there is a rule made from its code. */
static __always_inline int hawk_step_unruled(struct hawk_thread *thread)
{
	if (operator_step(thread))
		return HAWK_STEP_DONE;
	return settings.unwind == HAWK_UNWIND_AUTO ? HAWK_STEP_GUESS : HAWK_STEP_NONE;
}

/* Along frame pointers nothing but the innermost frames is known better. */
static __always_inline bool begin_along_frame_pointers(struct hawk_thread *thread)
{
	thread->walk.is_guessed = 1;
	hawk_step_over_trampoline(thread);
	for (int step = 0; step < HAWK_MAX_OPERATOR_STEPS; step++) {
		if (!operator_step(thread))
			break;
	}
	thread->walk.end = HAWK_END_NO_PROGRESS;
	return thread->walk.fp >= thread->walk.sp;
}

/* Registers as they are in the caller of the allocator; or, while that has not returned, where to find them. */
struct hawk_walk_start {
	__u64 pc, sp, fp;
	__u64 fp_at;              /* where rbp is saved; 0: in `fp` */
};

/* How the innermost frame is known. */
enum hawk_innermost {
	HAWK_FROM_REGISTERS,
	HAWK_FROM_SLOT,           /* its pc stands below `sp`, and rbp perhaps at `fp_at` */
};

/* Whether the kernel has the page in view mapped, by words around the innermost stack pointer. Below it is the return address of the
 * call that was made; or its result, which the trampoline of a return probe pushes there (since 6.11): 0 of posix_memalign. */
static __always_inline bool first_page_is_shown(const struct hawk_view *view, __u64 sp)
{
	return word_in_page(view, sp - 8) | word_in_page(view, sp) | word_in_page(view, sp + 8);
}

/* Brings the page at the innermost stack pointer into view. */
static __always_inline void find_first_page(struct hawk_thread *thread, __u64 sp)
{
	if (find_page(thread->page_tables, state.direct_map, sp, &thread->view) && !first_page_is_shown(&thread->view, sp))
		thread->view.page = HAWK_NO_VIEW;
}

/* Reads what the allocator will restore. Memory that cannot be read costs the stack at most, and not the block. */
static __always_inline void read_start(struct hawk_thread *thread, struct hawk_walk_start *start)
{
	if (!first_stack_word(thread, start->sp + HAWK_RETURN_SLOT, &start->pc))
		start->pc = 0;
	if (start->fp_at && !first_stack_word(thread, start->fp_at, &start->fp))
		start->fp = 0;
	start->fp_at = 0;
}

/* A round of the loop of a walk. In bpf_loop, whose body the verifier checks once, and not for each round. */
static long walk_on(__u32 round, struct hawk_thread **thread)
{
	return !hawk_walk_on(*thread);
}

/* Before a walk: its first page in view, and its beginning read. */
static __always_inline void begin_reading(struct hawk_thread *thread, struct hawk_walk_start *start, const enum hawk_innermost innermost)
{
	thread->view.page = HAWK_NO_VIEW;
	thread->window_bytes = 0;
	if (settings.may_read_directly && thread->reads_directly)
		find_first_page(thread, start->sp);
	if (innermost == HAWK_FROM_SLOT)
		read_start(thread, start);
}

/* One walk, from beginning to end. `at_once`: its first steps, and most walks need no more, without a call; which takes stack
 * that there is not up to 6.12. */
static __always_inline void walk_once(struct hawk_thread *thread, const struct hawk_walk_start *start, __u32 generation,
				      const bool at_once)
{
	hawk_begin_walk(thread, start_of_hash(thread), start->pc, start->sp, start->fp, generation);
	if (settings.unwind == HAWK_UNWIND_FP && !begin_along_frame_pointers(thread))
		return;
	if (at_once && HAWK_PAGES_CAN_BE_SHOWN && thread->reads_directly && !step_in_shown_page(thread) &&
	    !hawk_step_otherwise(thread))
		return;
	/* At worst every frame's rule has to be searched for. */
	bpf_loop(HAWK_MAX_FRAMES + HAWK_MAX_FRAMES / HAWK_STEPS_AT_ONCE, walk_on, &thread, 0);
}

/* Whether what was read directly counts: each page must have been the target's to the end. */
static __always_inline bool walk_holds(const struct hawk_thread *thread)
{
	return thread->reads_directly && (thread->view.page == HAWK_NO_VIEW || view_holds(&thread->view));
}

/* The generation of rules for a walk that begins. */
static __always_inline __u32 generation_of_walk(const struct hawk_thread *thread)
{
	return settings.unwind == HAWK_UNWIND_FP ? 0 : hawk_rule_generation(thread);
}

/* Fills thread->frames and thread->walk, once the walk's beginning has been read. False: what was read directly does not count, and the
 * walk is to be done again. */
static __always_inline bool walk_stack(struct hawk_thread *thread, const struct hawk_walk_start *start, __u32 generation,
				       const bool at_once)
{
	walk_once(thread, start, generation, at_once);
	/* Asked again: the verifier would follow the walk for either answer. */
	return !settings.may_read_directly || !*(const volatile __u64 *)&state.direct_map || walk_holds(thread);
}

/* The same walk again, through windows. */
static __always_inline void walk_again(struct hawk_thread *thread, struct hawk_walk_start *start, const enum hawk_innermost innermost)
{
	thread->reads_directly = 0;
	begin_reading(thread, start, innermost);
	walk_once(thread, start, thread->walk.generation, false);
}

#endif
