/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Walks that a thread remembers, so that one that it makes again need not be made. Pure: compiled for the kernel and for the host's
 * tests.
 *
 * A walk follows from where it begins, from the rules of its generation, and from the words of the stack that it reads. So one that
 * begins alike, in the same generation, and finds every such word as it was then, leads to the same stack, whose number is known: no
 * step has to wait for the one before, nothing is hashed and nothing looked up. Remembered are only walks of plain steps, by cached
 * rules, up to the outermost frame: what else a walk may depend on (a mapping, a signal's frame, the depth it may have) is no part of
 * such a one. A number is never given to another stack.
 *
 * What the two worlds provide, beside what unwind.h says: the member `memos` of struct hawk_thread, and
 *
 *     hawk_show_page(thread, page)    has the page of the stack at this address in view; false: it cannot be read, or the one before is no
 *                                     longer the thread's
 *     hawk_view(thread)               where that can be read
 *     hawk_word_in_view(view, place)  the word at this distance from the page's beginning; 0 also where nothing is mapped
 *     hawk_view_is_true(thread)       whether the page is still the thread's
 *     hawk_any_run_differs(thread, number, run)
 *                                     calls hawk_run_differs */
#ifndef HAWKTRACE_MEMO_H
#define HAWKTRACE_MEMO_H

#include "bpf/layout.h"
#include "bpf/unwind/plain_steps.h"
#include "bpf/unwind/unwind.h"

#define HAWK_STACK_PAGE_SHIFT 12
#define HAWK_STACK_PAGE_BYTES (1ull << HAWK_STACK_PAGE_SHIFT)

/* Of walks that begin there one is remembered, in the memo with this number. */
static inline __attribute__((always_inline)) __u32 hawk_memo_number(__u64 pc, __u64 sp)
{
	return (__u32)((pc ^ sp << 17) * HAWK_GOLDEN_RATIO >> (64 - HAWK_MEMO_BITS));
}

static inline __attribute__((always_inline)) struct hawk_memo *hawk_memo_of(struct hawk_thread *thread, __u64 pc, __u64 sp)
{
	return &thread->memos.memos[hawk_memo_number(pc, sp)];
}

static inline __attribute__((always_inline)) struct hawk_memo_block *hawk_memo_block_at(struct hawk_memos *memos, __u64 number)
{
	return &memos->blocks[number & (HAWK_MEMO_BLOCKS - 1)];
}

/* ---------------------------------------------------------------------------------------------------------- replaying */

/* Whether the memo is one of a walk that begins like this, and its words are still there. */
static inline __attribute__((always_inline)) int hawk_begins_alike(const struct hawk_thread *thread, const struct hawk_memo *memo,
								    __u64 pc, __u64 sp, __u64 fp, __u32 generation,
								    __u32 generation_then)
{
	__u64 differs = (memo->pc ^ pc) | (memo->sp ^ sp) | (memo->fp ^ fp) * memo->fp_counts | (generation_then ^ generation);

	return !differs && generation && thread->memos.next_block - memo->first_block <= HAWK_MEMO_BLOCKS;
}

/* 0: all its words are as they were. */
static inline __attribute__((always_inline)) __u64 hawk_block_differs(const struct hawk_memo_block *block, const void *view)
{
	__u64 differs = 0;

#ifdef HAWK_BPF
#pragma clang loop unroll(full)
#endif
	for (int i = 0; i < HAWK_MEMO_BLOCK_WORDS; i++)
		differs |= hawk_word_in_view(view, block->place[i]) ^ block->word[i];
	return differs;
}

static inline __attribute__((always_inline)) __u64 hawk_page_of_run(const struct hawk_memo *memo, __u32 run)
{
	return ((memo->sp >> HAWK_STACK_PAGE_SHIFT) + memo->runs[run & (HAWK_MEMO_RUNS - 1)].page) << HAWK_STACK_PAGE_SHIFT;
}

/* 0: all words of these blocks, `most` at most, which are in one page, are as they were. None of them was 0, as those of a page are
 * that is not there. */
static inline __attribute__((always_inline)) __u64 hawk_run_differs(struct hawk_thread *thread, const struct hawk_memo *memo, __u32 run,
								     __u64 first_block, const __u32 most)
{
	const __u32 count = memo->runs[run & (HAWK_MEMO_RUNS - 1)].blocks;
	__u64 differs = 0;

	if (!hawk_show_page(thread, hawk_page_of_run(memo, run)))
		return 1;
	const void *view = hawk_view(thread);

	for (__u32 i = 0; i < most && i < count; i++)
		differs |= hawk_block_differs(hawk_memo_block_at(&thread->memos, first_block + i), view);
	return differs;
}

/* Whether all the words of the memo are as they were; `differs`: what is known of those in the first page. */
static inline __attribute__((always_inline)) int hawk_words_are_alike(struct hawk_thread *thread, struct hawk_memo *memo, __u64 differs)
{
	__u64 block = memo->first_block;

	for (__u32 run = 1; run < HAWK_MEMO_RUNS && run < memo->run_count && !differs; run++) {
		block += memo->runs[run - 1].blocks;
		differs = hawk_any_run_differs(thread, memo, run, block);
	}
	return !differs && hawk_view_is_true(thread);
}

/* A memo that so often was not what it looked like, one time after the other, is none. */
#define HAWK_MEMO_FAILURES 4

/* The number of the stack that a walk from here would find; HAWK_NO_STACK: it is not known. */
static inline __attribute__((always_inline)) __u32 hawk_remembered_number(struct hawk_thread *thread, __u64 pc, __u64 sp, __u64 fp,
									   __u32 generation)
{
	struct hawk_memo *memo = hawk_memo_of(thread, pc, sp);

	if (!hawk_begins_alike(thread, memo, pc, sp, fp, generation, memo->generation))
		return HAWK_NO_STACK;
	if (hawk_words_are_alike(thread, memo, hawk_any_run_differs(thread, memo, 0, memo->first_block))) {
		memo->failures = 0;
		return memo->number;
	}
	if (++memo->failures >= HAWK_MEMO_FAILURES)
		memo->generation = memo->generation_at_hand = 0;
	return HAWK_NO_STACK;
}

/* What of the first page can be compared without a call: the verifier follows each round, for each way that leads there. */
#define HAWK_MEMO_BLOCKS_AT_HAND 8u

/* The same for most walks, with few branches; HAWK_NO_STACK: it is to be asked for as above. */
static inline __attribute__((always_inline)) __u32 hawk_number_at_hand(struct hawk_thread *thread, __u64 pc, __u64 sp, __u64 fp,
									__u32 generation)
{
	struct hawk_memo *memo = hawk_memo_of(thread, pc, sp);

	if (!hawk_begins_alike(thread, memo, pc, sp, fp, generation, memo->generation_at_hand))
		return HAWK_NO_STACK;
	if (!hawk_words_are_alike(thread, memo, hawk_run_differs(thread, memo, 0, memo->first_block, HAWK_MEMO_BLOCKS_AT_HAND)))
		return HAWK_NO_STACK;
	memo->failures = 0;
	return memo->number;
}

/* -------------------------------------------------------------------------------------------------------- remembering */

/* To remember a walk takes several times as long as the walk, so that this is done once in so many walks, */
#define HAWK_MEMO_PAUSE 32

/* and if the one before that began like this has led to the same stack. Returns whether it is to be done now. */
static inline __attribute__((always_inline)) int hawk_is_worth_remembering(struct hawk_thread *thread, __u64 pc, __u64 sp, __u32 number)
{
	struct hawk_memo *memo = hawk_memo_of(thread, pc, sp);

	thread->memos.remembering.walks++;
	if (memo->candidate != number) {
		memo->candidate = number;
		return 0;
	}
	return thread->memos.remembering.walks >= HAWK_MEMO_PAUSE;
}

static inline __attribute__((always_inline)) struct hawk_memo *hawk_new_memo(struct hawk_thread *thread)
{
	return &thread->memos.memos[thread->memos.remembering.memo & (HAWK_MEMOS - 1)];
}

/* A word in a page further away than this is too far. */
#define HAWK_MEMO_LAST_PAGE 255u

/* Room for words of this page, which go on with the run or begin another; NULL: there is none. */
static inline __attribute__((always_inline)) struct hawk_memo_block *hawk_add_block(struct hawk_thread *thread, struct hawk_memo *memo,
										     __u64 page, __u32 begins_run)
{
	if (memo->block_count >= HAWK_MEMO_MOST_BLOCKS || memo->run_count + begins_run > HAWK_MEMO_RUNS)
		return NULL;
	memo->run_count = (__u8)(memo->run_count + begins_run);
	struct hawk_memo_run *run = &memo->runs[(memo->run_count - 1) & (HAWK_MEMO_RUNS - 1)];

	run->page = (__u8)page;
	run->blocks = (__u8)(run->blocks + 1);
	return hawk_memo_block_at(&thread->memos, memo->first_block + memo->block_count++);
}

/* False: there is no room for it, or it proves nothing. */
static inline __attribute__((always_inline)) int hawk_remember_word(struct hawk_thread *thread, __u64 address, __u64 word)
{
	struct hawk_memo *memo = hawk_new_memo(thread);
	__u32 *words = &thread->memos.remembering.words;
	const __u64 page = (address >> HAWK_STACK_PAGE_SHIFT) - (memo->sp >> HAWK_STACK_PAGE_SHIFT);
	const __u16 place = (__u16)(address & (HAWK_STACK_PAGE_BYTES - 1));
	const __u32 begins_run = !memo->run_count || memo->runs[(memo->run_count - 1) & (HAWK_MEMO_RUNS - 1)].page != page;
	struct hawk_memo_block *block;

	if (!word || page > HAWK_MEMO_LAST_PAGE)
		return 0;
	if (!begins_run && *words < HAWK_MEMO_BLOCK_WORDS) {
		block = hawk_memo_block_at(&thread->memos, memo->first_block + memo->block_count - 1);
		block->word[*words & (HAWK_MEMO_BLOCK_WORDS - 1)] = word;
		block->place[*words & (HAWK_MEMO_BLOCK_WORDS - 1)] = place;
		++*words;
		return 1;
	}
	block = hawk_add_block(thread, memo, page, begins_run);
	if (!block)
		return 0;
	/* Where no other follows, it is full of this one. */
	for (int i = 0; i < HAWK_MEMO_BLOCK_WORDS; i++) {
		block->word[i] = word;
		block->place[i] = place;
	}
	*words = 1;
	return 1;
}

/* The rbp that the walk has come to counts, wherever it is from. */
static inline __attribute__((always_inline)) int hawk_remember_fp(struct hawk_thread *thread)
{
	const __u64 fp_at = thread->memos.remembering.fp_at;

	thread->memos.remembering.fp_at = HAWK_FP_HAS_COUNTED;
	if (fp_at == HAWK_FP_HAS_COUNTED)
		return 1;
	if (fp_at != HAWK_FP_AT_START)
		return hawk_remember_word(thread, fp_at, thread->walk.fp);
	hawk_new_memo(thread)->fp_counts = 1;
	return 1;
}

/* A known step, word by word; 0: the walk cannot be remembered. */
static inline __attribute__((always_inline)) int hawk_remember_known_step(struct hawk_thread *thread, const struct hawk_known_step *known)
{
	struct hawk_walk *walk = &thread->walk;
	__u64 cfa = walk->sp + known->cfa_above_sp, pc = 0, fp = walk->fp;

	if (known->fp_counts && !hawk_remember_fp(thread))
		return 0;
	if (!hawk_stack_word(thread, cfa + HAWK_RETURN_SLOT, &pc) || !hawk_remember_word(thread, cfa + HAWK_RETURN_SLOT, pc))
		return 0;
	if (known->fp_is_stored) {
		if (!hawk_stack_word(thread, cfa - known->fp_below_cfa, &fp))
			return 0;
		thread->memos.remembering.fp_at = cfa - known->fp_below_cfa;
	}
	walk->sp = cfa;
	walk->fp = fp;
	return hawk_push_frame(thread, pc, 0);
}

/* One step; 0: it was the last. */
static inline __attribute__((always_inline)) int hawk_remember_step(struct hawk_thread *thread)
{
	struct hawk_walk *walk = &thread->walk;
	struct hawk_known_step *known = hawk_known_step_at(thread, walk->sp);

	if (hawk_knows_step(known, walk->address + 1, walk->sp, walk->fp) ||
	    hawk_learn_step(known, walk->address + 1, walk->sp, walk->fp, walk->generation))
		return hawk_remember_known_step(thread, known);
	thread->memos.remembering.is_complete =
		hawk_rule_at(hawk_cached_rule(walk->address, walk->generation))->kind == HAWK_RULE_END;
	return 0;
}

static inline __attribute__((always_inline)) void hawk_begin_remembering(struct hawk_thread *thread, __u64 pc, __u64 sp, __u64 fp)
{
	const __u32 number = hawk_memo_number(pc, sp);
	struct hawk_memo *memo = &thread->memos.memos[number];

	memo->generation = memo->generation_at_hand = 0;
	memo->pc = pc;
	memo->sp = sp;
	memo->fp = fp;
	memo->fp_counts = 0;
	memo->failures = 0;
	memo->run_count = 0;
	memo->block_count = 0;
	for (__u32 run = 0; run < HAWK_MEMO_RUNS; run++)
		memo->runs[run].blocks = 0;
	memo->first_block = thread->memos.next_block;
	thread->memos.remembering = (struct hawk_remembering){
		.fp_at = HAWK_FP_AT_START,
		.memo = number,
		.words = 0,
		.is_complete = 0,
		.walks = 0,
	};
}

/* `hash`: of the walk that led to the number. What was read now has to be that stack as well. */
static inline __attribute__((always_inline)) void hawk_end_remembering(struct hawk_thread *thread, __u64 hash, __u32 number)
{
	struct hawk_memo *memo = hawk_new_memo(thread);

	/* Whatever was written to the blocks, the memos are without them that had them before. */
	thread->memos.next_block += memo->block_count;
	if (!thread->memos.remembering.is_complete || !memo->block_count)
		return;
	thread->walk.end = HAWK_END_OUTERMOST;
	if (hawk_hash_end(hawk_hash_of_frames(thread), &thread->walk) != hash)
		return;
	memo->number = number;
	memo->generation = thread->walk.generation;
	if (memo->runs[0].blocks <= HAWK_MEMO_BLOCKS_AT_HAND)
		memo->generation_at_hand = memo->generation;
}

#endif
