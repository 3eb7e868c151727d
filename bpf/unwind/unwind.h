/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The walk: from one frame to its caller's, by rules. Compiled for the kernel, and for the host, where tests compare it with
 * libdw's on the same stacks.
 *
 * What each of the two worlds provides (walk.bpf.h, tests/unwinding/host_walk.h): struct hawk_thread with the members `walk`,
 * `frames[HAWK_MAX_FRAMES + HAWK_STEPS_AT_ONCE]`, `known_steps[HAWK_KNOWN_STEPS]` and `known_generation`, HAWK_GLOBAL before
 * functions that the verifier shall check once, and
 *
 *     hawk_cached_rule(address, generation)   number of the rule for the code at an address, 0 if it is not known at once
 *     hawk_look_up_rule(thread, address, generation)
 *                                             the same, known at second sight or found
 *     hawk_rule_at(number)                    the rule with this number
 *     hawk_words_at_hand(reader, first, second, words)
 *                                             reads two words of the stack at multiples of 8 above `reader.origin`, itself
 *                                             a multiple of 8; false: that would take a call. `reader`: a struct
 *                                             hawk_reader, of which the rest is theirs
 *     hawk_walk_plainly(thread)               hawk_take_plain_steps with a reader
 *     hawk_stack_word(thread, address, word)  reads any word of the stack; false: it cannot be read
 *     hawk_trampoline()                       where the kernel has its trampoline for return probes; 0: nowhere
 *     hawk_replaced_return(thread, slot, trampoline)
 *                                             the return address in whose place the trampoline stands at `slot`; 0: none
 *     hawk_step_unruled(thread)               a step from code without rules; HAWK_STEP_*
 *     hawk_max_depth()                        frames at most, up to HAWK_MAX_FRAMES
 *     hawk_mixed(frame)                       hawk_mix_frame with the key of this trace
 *
 * A call instruction may be the last of its function, so that the rule for a return address is that of the byte before. The
 * address of an interrupted instruction is looked up as it is. */
#ifndef HAWKTRACE_UNWIND_H
#define HAWKTRACE_UNWIND_H

#include "bpf/unwind/stack_hash.h"
#include "bpf/unwind/ends.h"
#include "bpf/unwind/layout.h"
#include "bpf/arch/x86_64/registers.h"
#include "bpf/unwind/walk_state.h"

/* What hawk_step_unruled has done. */
#define HAWK_STEP_NONE 0          /* nothing: there is no way on */
#define HAWK_STEP_DONE 1          /* a step */
#define HAWK_STEP_GUESS 2         /* nothing: along the frame pointer, please */

static inline __attribute__((always_inline)) int hawk_end_walk(struct hawk_walk *walk, enum hawk_end end)
{
	walk->end = end;
	return 0;
}

static inline __attribute__((always_inline)) __u64 hawk_last_frame(const struct hawk_thread *thread)
{
	return thread->frames[(thread->walk.depth - 1) & (HAWK_MAX_FRAMES - 1)];
}

/* The address that the last frame returns to, or was interrupted at. */
static inline __attribute__((always_inline)) __u64 hawk_last_pc(const struct hawk_thread *thread)
{
	return hawk_last_frame(thread) & ~HAWK_FRAME_INTERRUPTED;
}

/* The hash of all frames so far. */
static inline __attribute__((always_inline)) __u64 hawk_hash_of_frames(struct hawk_thread *thread)
{
	struct hawk_walk *walk = &thread->walk;
	__u64 frame = walk->address + 1;

	if (!walk->depth)
		return walk->hash;
	if (walk->mixed_frame != frame) {
		walk->mixed_frame = frame;
		walk->mixed = hawk_mixed(frame);
	}
	return hawk_hash_frame(walk->hash, walk->mixed);
}

/* The next frame is at `pc`, `is_interrupted` or to be returned to. 0: the walk ends. */
static inline __attribute__((always_inline)) int hawk_push_frame(struct hawk_thread *thread, __u64 pc, __u32 is_interrupted)
{
	struct hawk_walk *walk = &thread->walk;
	__u64 frame = is_interrupted ? pc | HAWK_FRAME_INTERRUPTED : pc;

	if (!pc)
		return hawk_end_walk(walk, HAWK_END_NULL_RETURN);
	if (walk->depth >= hawk_max_depth())
		return hawk_end_walk(walk, HAWK_END_DEPTH);
	walk->hash = hawk_hash_of_frames(thread) ^ (is_interrupted ? HAWK_HASH_INTERRUPTED : 0);
	/* Never ~0, whatever a signal's frame holds: see hawk_known_step. */
	walk->address = is_interrupted ? pc & ~HAWK_FRAME_INTERRUPTED : pc - 1;
	thread->frames[walk->depth & (HAWK_MAX_FRAMES - 1)] = frame;
	walk->depth++;
	return 1;
}

/* To the frame whose callee's CFA is `cfa`. 0: the walk ends. */
static inline __attribute__((always_inline)) int hawk_step_to(struct hawk_thread *thread, const struct hawk_rule *rule, __u64 cfa)
{
	struct hawk_walk *walk = &thread->walk;
	__u64 pc = 0, fp = walk->fp;

	if (cfa <= walk->sp || cfa % HAWK_STACK_ALIGNMENT)
		return hawk_end_walk(walk, HAWK_END_NO_PROGRESS);
	if (!hawk_stack_word(thread, cfa + HAWK_RETURN_SLOT, &pc))
		return hawk_end_walk(walk, HAWK_END_UNREADABLE);
	if (rule->fp_rule == HAWK_FP_AT_CFA && !hawk_stack_word(thread, cfa + (__s64)rule->fp_offset, &fp))
		return hawk_end_walk(walk, HAWK_END_UNREADABLE);
	walk->sp = cfa;
	walk->fp = fp;
	return hawk_push_frame(thread, pc, 0);
}

static inline __attribute__((always_inline)) __u64 hawk_rule_base(const struct hawk_walk *walk, const struct hawk_rule *rule)
{
	return rule->base == HAWK_BASE_SP ? walk->sp : walk->fp;
}

/* The frame-pointer step is a rule like any other. */
static inline __attribute__((always_inline)) int hawk_step_by_frame_pointer(struct hawk_thread *thread)
{
	struct hawk_walk *walk = &thread->walk;
	const struct hawk_rule *rule = hawk_rule_at(HAWK_RULE_FRAME_POINTER);

	walk->is_guessed = 1;
	if (walk->fp < walk->sp)
		return hawk_end_walk(walk, HAWK_END_NO_PROGRESS);
	return hawk_step_to(thread, rule, walk->fp + (__s64)rule->cfa_offset);
}

/* Out of a signal handler: to what it interrupted, on whatever stack that was. */
static inline __attribute__((always_inline)) int hawk_step_out_of_signal(struct hawk_thread *thread)
{
	struct hawk_walk *walk = &thread->walk;
	__u64 pc = 0, sp = 0, fp = 0;

	if (!hawk_stack_word(thread, walk->sp + HAWK_SIGNAL_FP, &fp) ||
	    !hawk_stack_word(thread, walk->sp + HAWK_SIGNAL_SP, &sp) || !hawk_stack_word(thread, walk->sp + HAWK_SIGNAL_PC, &pc))
		return hawk_end_walk(walk, HAWK_END_UNREADABLE);
	walk->sp = sp;
	walk->fp = fp;
	return hawk_push_frame(thread, pc, 1);
}

/* A step by a rule of any form. */
static inline __attribute__((always_inline)) int hawk_step_by_rule(struct hawk_thread *thread, const struct hawk_rule *rule)
{
	struct hawk_walk *walk = &thread->walk;
	__u64 cfa = hawk_rule_base(walk, rule), fp = walk->fp;

	if (rule->kind == HAWK_RULE_LOADED && !hawk_stack_word(thread, cfa + (__s64)rule->load_offset, &cfa))
		return hawk_end_walk(walk, HAWK_END_UNREADABLE);
	cfa += (__s64)rule->cfa_offset;
	if (rule->kind == HAWK_RULE_PLT && (hawk_last_pc(thread) & HAWK_PLT_STUB_MASK) >= (__u64)rule->load_offset)
		cfa += HAWK_STACK_ALIGNMENT;
	if (rule->fp_rule == HAWK_FP_AT_SP || rule->fp_rule == HAWK_FP_AT_FP) {
		__u64 from = rule->fp_rule == HAWK_FP_AT_SP ? walk->sp : walk->fp;

		if (!hawk_stack_word(thread, from + (__s64)rule->fp_offset, &fp))
			return hawk_end_walk(walk, HAWK_END_UNREADABLE);
	}
	/* An address that nothing can be at: a frame that relies on it ends the walk. */
	if (rule->fp_rule == HAWK_FP_LOST)
		fp = HAWK_STACK_ALIGNMENT - 1;
	walk->fp = rule->fp_rule == HAWK_FP_AT_CFA ? walk->fp : fp;
	return hawk_step_to(thread, rule, cfa);
}

static inline __attribute__((always_inline)) enum hawk_end hawk_end_of(__u32 kind)
{
	switch (kind) {
	case HAWK_RULE_NO_TABLE:
		return HAWK_END_NO_TABLE;
	case HAWK_RULE_GAP:
		return HAWK_END_GAP;
	case HAWK_RULE_UNSUPPORTED:
		return HAWK_END_UNSUPPORTED;
	case HAWK_RULE_END:
		return HAWK_END_OUTERMOST;
	default:
		return HAWK_END_NO_CODE;
	}
}

/* Gives the frame that was pushed last another address. */
static inline __attribute__((always_inline)) void hawk_replace_frame(struct hawk_thread *thread, __u64 pc)
{
	struct hawk_walk *walk = &thread->walk;
	__u64 *frame = &thread->frames[(walk->depth - 1) & (HAWK_MAX_FRAMES - 1)];

	if (*frame & HAWK_FRAME_INTERRUPTED)
		walk->hash ^= HAWK_HASH_INTERRUPTED;
	walk->address = pc - 1;
	*frame = pc;
}

static inline __attribute__((always_inline)) int hawk_is_at_trampoline(const struct hawk_thread *thread)
{
	const __u64 trampoline = hawk_trampoline();

	return trampoline && hawk_last_pc(thread) == trampoline;
}

/* Where the kernel's trampoline is in place of the last frame's address, gives it its own. Also while mappings are being changed, when
 * that is the caller of the allocator at points and all that can be known of the stack. 0: it is not, or nothing says what it replaces. */
static inline __attribute__((always_inline)) int hawk_step_over_trampoline(struct hawk_thread *thread)
{
	if (!hawk_is_at_trampoline(thread))
		return 0;
	const __u64 replaced = hawk_replaced_return(thread, thread->walk.sp + HAWK_RETURN_SLOT, hawk_last_pc(thread));

	if (!replaced)
		return 0;
	hawk_replace_frame(thread, replaced);
	return 1;
}

/* A step of any kind, by the rule with this number. 0: the walk ends. Not static: checked once by the verifier. */
HAWK_GLOBAL int hawk_step_with_care(struct hawk_thread *thread, __u32 number)
{
	if (!thread)
		return 0;
	struct hawk_walk *walk = &thread->walk;
	const struct hawk_rule *rule = hawk_rule_at(number);
	int way;

	switch (rule->kind) {
	case HAWK_RULE_PLAIN:
	case HAWK_RULE_LOADED:
	case HAWK_RULE_PLT:
		return hawk_step_by_rule(thread, rule);
	case HAWK_RULE_SIGNAL:
		return hawk_step_out_of_signal(thread);
	case HAWK_RULE_CHANGING:
		return hawk_step_over_trampoline(thread) || hawk_end_walk(walk, HAWK_END_CHANGING);
	case HAWK_RULE_NO_CODE:
		if (hawk_is_at_trampoline(thread))
			return hawk_step_over_trampoline(thread) || hawk_end_walk(walk, HAWK_END_NO_CODE);
		/* fallthrough */
	case HAWK_RULE_NO_TABLE:
	case HAWK_RULE_GAP:
		way = hawk_step_unruled(thread);
		if (way == HAWK_STEP_GUESS)
			return hawk_step_by_frame_pointer(thread);
		return way == HAWK_STEP_DONE ? 1 : hawk_end_walk(walk, hawk_end_of(rule->kind));
	default:
		return hawk_end_walk(walk, hawk_end_of(rule->kind));
	}
}

#include "bpf/unwind/plain_steps.h"

/* The step that hawk_walk_plainly has not taken; 0: the walk has ended. */
static inline __attribute__((always_inline)) int hawk_step_otherwise(struct hawk_thread *thread)
{
	struct hawk_walk *walk = &thread->walk;
	__u32 number = hawk_cached_rule(walk->address, walk->generation);

	/* The end of nearly every walk. */
	if (hawk_rule_at(number)->kind == HAWK_RULE_END)
		return hawk_end_walk(walk, HAWK_END_OUTERMOST);
	return hawk_step_with_care(thread, number ? number : hawk_look_up_rule(thread, walk->address, walk->generation));
}

/* Steps; 0: the walk has ended. */
static inline __attribute__((always_inline)) int hawk_walk_on(struct hawk_thread *thread)
{
	return hawk_walk_plainly(thread) || hawk_step_otherwise(thread);
}

/* What was learnt of another generation's rules counts no more. Not static: checked once by the verifier. */
HAWK_GLOBAL int hawk_forget_steps(struct hawk_thread *thread)
{
	if (!thread)
		return 0;
#ifdef HAWK_BPF
#pragma clang loop unroll_count(16)
#endif
	for (int i = 0; i < HAWK_KNOWN_STEPS; i++)
		thread->known_steps[i].pc = 0;
	return 0;
}

/* A walk that begins in the caller of an allocator, where the call has returned to `pc`. */
static inline __attribute__((always_inline)) void hawk_begin_walk(struct hawk_thread *thread, __u64 hash, __u64 pc, __u64 sp,
								   __u64 fp, __u32 generation)
{
	struct hawk_walk *walk = &thread->walk;

	walk->sp = sp;
	walk->fp = fp;
	walk->hash = hash;
	walk->depth = 0;
	walk->end = HAWK_END_NO_CODE;
	walk->is_guessed = 0;
	walk->generation = generation;
	if (thread->known_generation != generation) {
		hawk_forget_steps(thread);
		thread->known_generation = generation;
	}
	hawk_push_frame(thread, pc, 0);
}

/* The hash of a walk that has ended, from that of its frames: two stacks with the same ones are not the same if one of them goes
 * on. */
static inline __attribute__((always_inline)) __u64 hawk_hash_end(__u64 hash, const struct hawk_walk *walk)
{
	return hawk_hash_finish(hawk_hash_frame(hash, walk->end | walk->is_guessed << 8));
}

#endif
