/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A stack while it is walked. Pure: part of the state of a thread, in the kernel and in the host's tests. */
#ifndef HAWKTRACE_WALK_STATE_H
#define HAWKTRACE_WALK_STATE_H

#include "bpf/types.h"

struct hawk_walk {
	__u64 address;            /* that says which rule leads on from the last frame */
	__u64 sp;                 /* in the last frame, once the call that it waits for has returned */
	__u64 fp;
	__u64 hash;               /* of the frames so far, but for the last */
	__u32 depth;
	__u32 generation;         /* that cached rules must have, 0: none will do */
	__u32 end;                /* enum hawk_end; means something once the walk has ended */
	__u32 is_guessed;         /* some step was along a frame pointer */
	__u64 mixed_frame;        /* the frame that was last hashed without a known step, nearly always the outermost; 0: none */
	__u64 mixed;              /* the same, as it is hashed */
};

/* A plain step as it was taken once. Kept by where on the stack that was: most frames are met again where they were, and the
 * processor need wait neither for their return address to know the rule that comes next, nor for their rbp to know the CFA. */
struct hawk_known_step {
	__u64 pc;                 /* of the frame that is left; 0: none */
	__u64 mixed;              /* the same, as it is hashed */
	__u32 cfa_above_sp;       /* bytes */
	__u32 fp_below_cfa;       /* where the caller's rbp may be stored */
	__u32 fp_above_sp;        /* rbp then */
	__u16 fp_counts;          /* 1: only with that rbp is the CFA there; 0: always */
	__u16 fp_is_stored;       /* 1: the caller's rbp is; 0: it is still in rbp */
};

/* Of the stack. */
struct hawk_two_words {
	__u64 first, second;
};

/* Plain steps of a walk that are taken at once: what the verifier checks grows with them, and what calls cost falls. */
#define HAWK_STEPS_AT_ONCE 12
/* The same where a walk seldom comes by. */
#define HAWK_STEPS_WHERE_RARE 3

/* Known steps of a thread; a power of two. A stack of 50 frames is some 2 to 8 KB long, and calls leave rsp at multiples of
 * 16. */
#define HAWK_KNOWN_STEPS 128
#define HAWK_CALL_ALIGNMENT_SHIFT 4

#endif
