/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The steps that most of a walk consists of: by plain rules, over words of the stack that are at hand. A part of unwind.h, which
 * says what the two worlds provide for it. */
#ifndef HAWKTRACE_PLAIN_STEPS_H
#define HAWKTRACE_PLAIN_STEPS_H

#include "bpf/unwind/stack_hash.h"
#include "bpf/unwind/layout.h"
#include "bpf/arch/x86_64/registers.h"
#include "bpf/unwind/walk_state.h"

/* Whether the rule can become a known step. */
static inline __attribute__((always_inline)) int hawk_is_plain(const struct hawk_rule *rule)
{
	return rule->kind == HAWK_RULE_PLAIN && rule->fp_rule <= HAWK_FP_AT_CFA;
}

/* Makes the step from here, if its rule is known at once and plain, the known one for its place on the stack. */
static inline __attribute__((always_inline)) int hawk_learn_step(struct hawk_known_step *known, __u64 pc, __u64 sp, __u64 fp,
								  __u32 generation)
{
	const struct hawk_rule *rule = hawk_rule_at(hawk_cached_rule(pc - 1, generation));
	__u64 cfa_above_sp = (fp - sp) * rule->base + (__s64)rule->cfa_offset, fp_above_sp = (fp - sp) * rule->base;

	if (!hawk_is_plain(rule) || !cfa_above_sp || cfa_above_sp >> 32 || fp_above_sp >> 32 || rule->fp_offset > 0 ||
	    cfa_above_sp % HAWK_STACK_ALIGNMENT)
		return 0;
	known->pc = pc;
	known->mixed = hawk_mixed(pc);
	known->cfa_above_sp = (__u32)cfa_above_sp;
	known->fp_below_cfa = -(__u32)rule->fp_offset;
	known->fp_above_sp = (__u32)fp_above_sp;
	known->fp_counts = rule->base;
	known->fp_is_stored = rule->fp_rule;
	return 1;
}

/* Whether a known step is the one from here. In one branch, since the verifier follows each at every step. */
static inline __attribute__((always_inline)) int hawk_knows_step(const struct hawk_known_step *known, __u64 pc, __u64 sp,
								  __u64 fp)
{
	return ((known->pc ^ pc) | (fp - sp - known->fp_above_sp) * known->fp_counts) == 0;
}

/* A walk while it is in registers, of which there are ten. */
struct hawk_plain_walk {
	__u64 pc;                 /* the last frame; one past hawk_walk.address */
	__u64 sp, fp;             /* above reader.origin */
	__u64 hash;
	__u64 *frame;             /* where the next one goes */
	__u32 limit;              /* steps at most */
	struct hawk_reader reader;
};

/* The steps that there is room for, at most HAWK_STEPS_AT_ONCE. The verifier goes on first where a branch is not taken: there it
 * meets each number of steps, and has not to follow the walk a second time for the greatest of them. */
static inline __attribute__((always_inline)) __u32 hawk_step_limit(__u32 room)
{
#ifdef HAWK_BPF
	__asm__ volatile goto("if %[room] > %[most] goto %l[has_more]"
			      :
			      : [room] "r"((__u64)room), [most] "i"(HAWK_STEPS_AT_ONCE)
			      :
			      : has_more);
	return room;
has_more:
	return HAWK_STEPS_AT_ONCE;
#else
	return room < HAWK_STEPS_AT_ONCE ? room : HAWK_STEPS_AT_ONCE;
#endif
}

static inline __attribute__((always_inline)) struct hawk_plain_walk hawk_load_walk(struct hawk_thread *thread,
										    struct hawk_reader reader)
{
	const struct hawk_walk *walk = &thread->walk;
	__u32 room = hawk_max_depth() - walk->depth;
	struct hawk_plain_walk plain = {
		.pc = walk->address + 1,
		.sp = walk->sp - reader.origin,
		.fp = walk->fp - reader.origin,
		.hash = walk->hash,
		.frame = &thread->frames[walk->depth & (HAWK_MAX_FRAMES - 1)],
		.limit = hawk_step_limit(room),
		.reader = reader,
	};

	return plain;
}

static inline __attribute__((always_inline)) void hawk_store_walk(struct hawk_thread *thread, const struct hawk_plain_walk *plain,
								   __u32 steps)
{
	struct hawk_walk *walk = &thread->walk;

	walk->address = plain->pc - 1;
	walk->sp = plain->sp + plain->reader.origin;
	walk->fp = plain->fp + plain->reader.origin;
	walk->hash = plain->hash;
	walk->depth += steps;
}

/* Where `sp` counts from makes no difference, as long as that is a multiple of what the known steps reach over. */
static inline __attribute__((always_inline)) struct hawk_known_step *hawk_known_step_at(struct hawk_thread *thread, __u64 sp)
{
	return &thread->known_steps[sp >> HAWK_CALL_ALIGNMENT_SHIFT & (HAWK_KNOWN_STEPS - 1)];
}

/* False: what is needed is not at hand. */
static inline __attribute__((always_inline)) int hawk_take_step(struct hawk_plain_walk *plain, const struct hawk_known_step *known)
{
	__u64 cfa = plain->sp + known->cfa_above_sp;
	struct hawk_two_words words;

	if (!hawk_words_at_hand(&plain->reader, cfa + HAWK_RETURN_SLOT, cfa - known->fp_below_cfa, &words) || !words.first)
		return 0;
	plain->hash = hawk_hash_frame(plain->hash, known->mixed);
	plain->fp += (words.second - plain->reader.origin - plain->fp) * known->fp_is_stored;
	plain->sp = cfa;
	plain->pc = words.first;
	*plain->frame++ = words.first;
	return 1;
}

/* Up to 6.1 the verifier lets only jumps lead back, and a loop's last instruction may stand right before its first: this is a
 * jump to the next instruction, for which no code is made. */
#ifdef HAWK_BPF
#define HAWK_LOOP_ENDS(changed) __asm__ volatile("goto +0" : "+r"(changed))
#else
#define HAWK_LOOP_ENDS(changed) (void)(changed)
#endif

/* Takes known steps, `steps` being taken already, and returns how many are then. This is what a walk costs: no calls and nothing
 * rare, so that most is in registers, and few branches, which the processor would guess and the verifier would follow. So what
 * does not count is taken times zero, and where rbp is not stored a word is loaded all the same (hawk_prepared_rule). */
static inline __attribute__((always_inline)) __u32 hawk_take_known_steps(struct hawk_thread *thread, struct hawk_plain_walk *plain,
									  __u32 steps)
{
	for (; steps < plain->limit; steps++) {
		const struct hawk_known_step *known = hawk_known_step_at(thread, plain->sp);

		if (!hawk_knows_step(known, plain->pc, plain->sp, plain->fp) || !hawk_take_step(plain, known))
			break;
		HAWK_LOOP_ENDS(plain->frame);
	}
	return steps;
}

/* Takes a step that is not known; false: it is, or cannot be learnt. */
static inline __attribute__((always_inline)) int hawk_take_new_step(struct hawk_thread *thread, struct hawk_plain_walk *plain)
{
	struct hawk_known_step *known = hawk_known_step_at(thread, plain->sp);

	return !hawk_knows_step(known, plain->pc, plain->sp, plain->fp) &&
	       hawk_learn_step(known, plain->pc, plain->sp, plain->fp, thread->walk.generation) && hawk_take_step(plain, known);
}

/* Plain steps as long as they can be taken; returns how many. */
static inline __attribute__((always_inline)) __u32 hawk_take_steps(struct hawk_thread *thread, struct hawk_plain_walk *plain)
{
	__u32 steps = 0;

	/* Or clang compares with the two that it is the lesser of, each time. */
	__asm__ volatile("" : "+r"(plain->limit));
	for (;;) {
		steps = hawk_take_known_steps(thread, plain, steps);
		if (steps >= plain->limit || !hawk_take_new_step(thread, plain))
			return steps;
		steps++;
		HAWK_LOOP_ENDS(plain->frame);
	}
}

/* The same in one loop, which verifiers up to 6.12 follow to its end: the slower ways to read the stack are theirs. */
static inline __attribute__((always_inline)) __u32 hawk_take_steps_in_one_loop(struct hawk_thread *thread,
									       struct hawk_plain_walk *plain, const __u32 most)
{
	__u32 steps;

	for (steps = 0; steps < most; steps++) {
		struct hawk_known_step *known = hawk_known_step_at(thread, plain->sp);

		/* Or clang makes one bound of the two, whose value the verifier does not know. */
		__asm__ volatile("" : "+r"(steps));
		if (steps >= plain->limit)
			break;
		if (!hawk_knows_step(known, plain->pc, plain->sp, plain->fp) &&
		    !hawk_learn_step(known, plain->pc, plain->sp, plain->fp, thread->walk.generation))
			break;
		if (!hawk_take_step(plain, known))
			break;
	}
	return steps;
}

/* Plain steps, HAWK_STEPS_AT_ONCE at most; fewer where the next one needs more than that, in whatever way. Returns whether there may
 * be more. */
static inline __attribute__((always_inline)) int hawk_take_plain_steps(struct hawk_thread *thread, struct hawk_reader reader)
{
	struct hawk_plain_walk plain = hawk_load_walk(thread, reader);
	const __u32 steps = hawk_take_steps(thread, &plain);

	hawk_store_walk(thread, &plain, steps);
	return steps == HAWK_STEPS_AT_ONCE;
}

/* The same in one loop, `most` steps at most, which is no more than HAWK_STEPS_AT_ONCE. */
static inline __attribute__((always_inline)) int hawk_take_plain_steps_in_one_loop(struct hawk_thread *thread,
										   struct hawk_reader reader, const __u32 most)
{
	struct hawk_plain_walk plain = hawk_load_walk(thread, reader);
	const __u32 steps = hawk_take_steps_in_one_loop(thread, &plain, most);

	hawk_store_walk(thread, &plain, steps);
	return steps == most;
}

#endif
