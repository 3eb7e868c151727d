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

/* Walks that a thread remembers, see memo.h. They take 7 KB of each thread. Where they are is chance: of the seven stacks of a
 * redis-server that does nothing but SET, two would have to be walked each time if there were places for eight. */
#define HAWK_MEMO_BITS 5
#define HAWK_MEMOS (1u << HAWK_MEMO_BITS)
/* Words are compared so many at a time. */
#define HAWK_MEMO_BLOCK_WORDS 4
/* For the words of all of them, the newest in place of the oldest; a power of two. And the most that one may have: a frame has one word,
 * or two where frame pointers lead to the next. */
#define HAWK_MEMO_BLOCKS 128u
#define HAWK_MEMO_MOST_BLOCKS 32u

/* Pages that one may go through, a run of blocks each; a power of two. */
#define HAWK_MEMO_RUNS 4u

struct hawk_memo_block {
	__u64 word[HAWK_MEMO_BLOCK_WORDS];
	__u16 place[HAWK_MEMO_BLOCK_WORDS]; /* of each, from the beginning of its page */
};

/* Blocks of one page. */
struct hawk_memo_run {
	__u8 page;                /* from that of the stack pointer on */
	__u8 blocks;
};

/* One walk. */
struct hawk_memo {
	__u64 pc, sp, fp;         /* where it began */
	__u64 first_block;        /* as next_block was then */
	__u32 generation;         /* of its rules; 0: no walk */
	__u32 number;             /* of the stack */
	__u32 candidate;          /* of the last walk that began alike and was made */
	__u32 generation_at_hand; /* the same as that of its rules if few of its words are in the first page; or else 0 */
	__u8 fp_counts;           /* 1: only with that fp is it the same walk */
	__u8 failures;            /* since it was last the same walk */
	__u8 run_count;
	__u8 block_count;
	struct hawk_memo_run runs[HAWK_MEMO_RUNS];
};

/* A walk that is made once more, with a look at each of its words. */
struct hawk_remembering {
	__u64 fp_at;              /* where rbp has been stored, as long as it has not counted; or one of those below */
	__u32 memo;               /* its number */
	__u32 words;              /* in the last block */
	__u32 is_complete;
	__u32 walks;              /* made since a walk was last remembered */
};
#define HAWK_FP_AT_START 0ull     /* nowhere: it is that of the beginning */
#define HAWK_FP_HAS_COUNTED 1ull

struct hawk_memos {
	__u64 next_block;         /* since the thread began: what was there is gone after HAWK_MEMO_BLOCKS further ones */
	struct hawk_remembering remembering;
	struct hawk_memo memos[HAWK_MEMOS];
	struct hawk_memo_block blocks[HAWK_MEMO_BLOCKS];
};

/* What a thread remembers is not another's, whose stacks have other numbers. */
static inline __attribute__((always_inline)) void hawk_forget_walks(struct hawk_memos *memos)
{
	memos->next_block += HAWK_MEMO_BLOCKS + 1;
}

#endif
