/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The walk: from one frame to its caller's, by rules. Compiled for the kernel, and for the host, where tests compare it with
 * libdw's on the same stacks.
 *
 * What each of the two worlds provides (walk.bpf.h, tests/unwinding/host_walk.h): struct hawk_thread with the members `walk`
 * and `frames[HAWK_MAX_FRAMES]`, HAWK_GLOBAL before functions that the verifier shall check once, and
 *
 *     hawk_cached_rule(address, generation)   number of the rule for the code at an address, 0 if it is not known at once
 *     hawk_look_up_rule(thread, address, generation)
 *                                             the same, known or found
 *     hawk_rule_at(number)                    the rule with this number
 *     hawk_stack_word(thread, address, word)  reads a word of the stack; false: it cannot be read
 *     hawk_step_unruled(thread, kind)         a step from code without rules; HAWK_STEP_*
 *     hawk_max_depth()                        frames at most, up to HAWK_MAX_FRAMES
 *
 * A call instruction may be the last of its function, so that the rule for a return address is that of the byte before. The
 * address of an interrupted instruction is looked up as it is. */
#ifndef HAWKTRACE_UNWIND_H
#define HAWKTRACE_UNWIND_H

#include "bpf/stack_hash.h"
#include "bpf/unwind_ends.h"
#include "bpf/unwind_layout.h"
#include "bpf/unwind_x86_64.h"
#include "bpf/walk_state.h"

/* Steps that one call of hawk_walk_some takes: what the verifier checks grows with them, and what calls cost falls. */
#define HAWK_STEPS_AT_ONCE 16

/* What hawk_step_unruled has done. */
#define HAWK_STEP_NONE 0          /* nothing: there is no way on */
#define HAWK_STEP_DONE 1          /* a step, or the walk has got another pc to go on from */
#define HAWK_STEP_GUESS 2         /* nothing: along the frame pointer, please */

static inline __attribute__((always_inline)) int hawk_end_walk(struct hawk_walk *walk, enum hawk_end end)
{
	walk->end = end;
	return 0;
}

/* The next frame is at `pc`, `is_interrupted` or to be returned to. 0: the walk ends. */
static inline __attribute__((always_inline)) int hawk_push_frame(struct hawk_thread *thread, struct hawk_walk *walk, __u64 pc,
								  __u32 is_interrupted)
{
	__u64 frame = is_interrupted ? pc | HAWK_FRAME_INTERRUPTED : pc;

	if (!pc)
		return hawk_end_walk(walk, HAWK_END_NULL_RETURN);
	if (walk->depth >= hawk_max_depth())
		return hawk_end_walk(walk, HAWK_END_DEPTH);
	walk->pc = pc;
	walk->is_interrupted = is_interrupted;
	thread->frames[walk->depth & (HAWK_MAX_FRAMES - 1)] = frame;
	walk->depth++;
	walk->hash_before = walk->hash;
	walk->hash = hawk_hash_frame(walk->hash, frame);
	return 1;
}

/* To the frame whose callee's CFA is `cfa`. 0: the walk ends. */
static inline __attribute__((always_inline)) int hawk_step_to(struct hawk_thread *thread, struct hawk_walk *walk,
							       const struct hawk_rule *rule, __u64 cfa)
{
	__u64 pc, fp = walk->fp;

	if (cfa <= walk->sp || cfa % HAWK_STACK_ALIGNMENT)
		return hawk_end_walk(walk, HAWK_END_NO_PROGRESS);
	if (!hawk_stack_word(thread, cfa + HAWK_RETURN_SLOT, &pc))
		return hawk_end_walk(walk, HAWK_END_UNREADABLE);
	if (rule->fp_place == HAWK_FP_AT_CFA && !hawk_stack_word(thread, cfa + (__s64)rule->fp_offset, &fp))
		return hawk_end_walk(walk, HAWK_END_UNREADABLE);
	walk->sp = cfa;
	walk->fp = fp;
	return hawk_push_frame(thread, walk, pc, 0);
}

static inline __attribute__((always_inline)) __u64 hawk_rule_base(const struct hawk_walk *walk, const struct hawk_rule *rule)
{
	return rule->base == HAWK_BASE_SP ? walk->sp : walk->fp;
}

/* The commonest step by far. With as few branches as can be, which the processor would guess and the verifier would follow: a
 * base or an rbp that does not count is taken times zero, and where rbp is not stored a word is loaded all the same
 * (hawk_prepared_rule). */
static inline __attribute__((always_inline)) int hawk_step_plainly(struct hawk_thread *thread, struct hawk_walk *walk,
								    const struct hawk_rule *rule)
{
	__u64 cfa = walk->sp + (walk->fp - walk->sp) * rule->base + (__s64)rule->cfa_offset;
	__u64 pc, saved_fp;

	if (cfa <= walk->sp || cfa % HAWK_STACK_ALIGNMENT)
		return hawk_end_walk(walk, HAWK_END_NO_PROGRESS);
	if (!hawk_stack_word(thread, cfa + HAWK_RETURN_SLOT, &pc) ||
	    !hawk_stack_word(thread, cfa + (__s64)rule->fp_offset, &saved_fp))
		return hawk_end_walk(walk, HAWK_END_UNREADABLE);
	walk->sp = cfa;
	walk->fp += (saved_fp - walk->fp) * rule->fp_place;
	return hawk_push_frame(thread, walk, pc, 0);
}

static inline __attribute__((always_inline)) int hawk_step_by_frame_pointer(struct hawk_thread *thread, struct hawk_walk *walk)
{
	walk->is_guessed = 1;
	if (walk->fp < walk->sp)
		return hawk_end_walk(walk, HAWK_END_NO_PROGRESS);
	return hawk_step_plainly(thread, walk, hawk_rule_at(HAWK_RULE_FRAME_POINTER));
}

/* Out of a signal handler: to what it interrupted, on whatever stack that was. */
static inline __attribute__((always_inline)) int hawk_step_out_of_signal(struct hawk_thread *thread, struct hawk_walk *walk)
{
	__u64 pc, sp, fp;

	if (!hawk_stack_word(thread, walk->sp + HAWK_SIGNAL_FP, &fp) ||
	    !hawk_stack_word(thread, walk->sp + HAWK_SIGNAL_SP, &sp) || !hawk_stack_word(thread, walk->sp + HAWK_SIGNAL_PC, &pc))
		return hawk_end_walk(walk, HAWK_END_UNREADABLE);
	walk->sp = sp;
	walk->fp = fp;
	return hawk_push_frame(thread, walk, pc, 1);
}

/* Steps whose CFA or saved rbp is not where a plain rule has them. */
static inline __attribute__((always_inline)) int hawk_step_by_rule(struct hawk_thread *thread, struct hawk_walk *walk,
								    const struct hawk_rule *rule)
{
	__u64 cfa = hawk_rule_base(walk, rule), fp = walk->fp;

	if (rule->kind == HAWK_RULE_LOADED && !hawk_stack_word(thread, cfa + (__s64)rule->load_offset, &cfa))
		return hawk_end_walk(walk, HAWK_END_UNREADABLE);
	cfa += (__s64)rule->cfa_offset;
	if (rule->kind == HAWK_RULE_PLT && (walk->pc & HAWK_PLT_STUB_MASK) >= (__u64)rule->load_offset)
		cfa += HAWK_STACK_ALIGNMENT;
	if (rule->fp_place == HAWK_FP_AT_SP || rule->fp_place == HAWK_FP_AT_FP) {
		__u64 from = rule->fp_place == HAWK_FP_AT_SP ? walk->sp : walk->fp;

		if (!hawk_stack_word(thread, from + (__s64)rule->fp_offset, &fp))
			return hawk_end_walk(walk, HAWK_END_UNREADABLE);
	}
	/* An address that nothing can be at: a frame that relies on it ends the walk. */
	if (rule->fp_place == HAWK_FP_LOST)
		fp = HAWK_STACK_ALIGNMENT - 1;
	walk->fp = rule->fp_place == HAWK_FP_AT_CFA ? walk->fp : fp;
	return hawk_step_to(thread, walk, rule, cfa);
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
	case HAWK_RULE_CHANGING:
		return HAWK_END_CHANGING;
	case HAWK_RULE_END:
		return HAWK_END_OUTERMOST;
	default:
		return HAWK_END_NO_CODE;
	}
}

/* A step of any kind, from what thread->walk says. 0: the walk ends. Not static: checked once by the verifier. */
HAWK_GLOBAL int hawk_step_specially(struct hawk_thread *thread, __u32 number)
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
		return hawk_step_by_rule(thread, walk, rule);
	case HAWK_RULE_SIGNAL:
		return hawk_step_out_of_signal(thread, walk);
	case HAWK_RULE_NO_CODE:
	case HAWK_RULE_NO_TABLE:
	case HAWK_RULE_GAP:
		way = hawk_step_unruled(thread, rule->kind);
		if (way == HAWK_STEP_GUESS)
			return hawk_step_by_frame_pointer(thread, walk);
		return way == HAWK_STEP_DONE ? 1 : hawk_end_walk(walk, hawk_end_of(rule->kind));
	default:
		return hawk_end_walk(walk, hawk_end_of(rule->kind));
	}
}

/* Whether hawk_step_plainly does. */
static inline __attribute__((always_inline)) int hawk_is_plain(const struct hawk_rule *rule)
{
	return rule->kind == HAWK_RULE_PLAIN && rule->fp_place <= HAWK_FP_AT_CFA;
}

/* What hawk_walk_some has come to. */
#define HAWK_WALK_ENDED 0
#define HAWK_WALK_GOES_ON 1
#define HAWK_WALK_NEEDS_RULE 2

/* The address that says which rule leads on from the last frame. */
static inline __attribute__((always_inline)) __u64 hawk_rule_address(const struct hawk_walk *walk)
{
	return walk->pc - 1 + walk->is_interrupted;
}

/* Up to HAWK_STEPS_AT_ONCE steps, fewer where a rule is not known at once. Not static: checked once by the verifier. */
HAWK_GLOBAL int hawk_walk_some(struct hawk_thread *thread)
{
	if (!thread)
		return 0;
	/* A copy, which the compiler keeps in registers as far as they go. */
	struct hawk_walk walk = thread->walk;
	int goes_on = HAWK_WALK_GOES_ON;

	for (int step = 0; step < HAWK_STEPS_AT_ONCE && goes_on; step++) {
		__u32 number = hawk_cached_rule(hawk_rule_address(&walk), walk.generation);

		if (!number) {
			goes_on = HAWK_WALK_NEEDS_RULE;
			break;
		}
		const struct hawk_rule *rule = hawk_rule_at(number);

		if (hawk_is_plain(rule)) {
			goes_on = hawk_step_plainly(thread, &walk, rule);
		} else {
			thread->walk = walk;
			goes_on = hawk_step_specially(thread, number);
			walk = thread->walk;
		}
	}
	thread->walk = walk;
	return goes_on;
}

/* The same, and a step from where a rule was not known at once; 0: the walk has ended. The search is not begun from inside
 * hawk_walk_some, because up to 6.12 all functions that are open have 512 bytes of stack together. */
static inline __attribute__((always_inline)) int hawk_walk_on(struct hawk_thread *thread)
{
	int way = hawk_walk_some(thread);

	if (way != HAWK_WALK_NEEDS_RULE)
		return way;
	const struct hawk_walk *walk = &thread->walk;

	return hawk_step_specially(thread, hawk_look_up_rule(thread, hawk_rule_address(walk), walk->generation));
}

/* Gives the frame that was pushed last another address. */
static inline __attribute__((always_inline)) void hawk_replace_frame(struct hawk_thread *thread, __u64 pc)
{
	struct hawk_walk *walk = &thread->walk;

	walk->pc = pc;
	thread->frames[(walk->depth - 1) & (HAWK_MAX_FRAMES - 1)] = pc;
	walk->hash = hawk_hash_frame(walk->hash_before, pc);
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
	hawk_push_frame(thread, walk, pc, 0);
}

/* The hash of a walk that has ended: two stacks with the same frames are not the same if one of them goes on. */
static inline __attribute__((always_inline)) __u64 hawk_hash_end(__u64 hash, const struct hawk_walk *walk)
{
	return hawk_hash_frame(hash, walk->end | walk->is_guessed << 8);
}

#endif
