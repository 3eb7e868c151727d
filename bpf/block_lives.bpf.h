/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What is counted of the lives of blocks beside bytes and numbers, where it is asked for: otherwise the verifier removes all of it. */
#ifndef HAWKTRACE_BLOCK_LIVES_BPF_H
#define HAWKTRACE_BLOCK_LIVES_BPF_H

#include "bpf/maps.bpf.h"

static __always_inline bool counts_lives(void)
{
	return settings.histograms || settings.by_thread;
}

static __always_inline struct hawk_stack_lives *lives_of(__u32 stack)
{
	return bpf_map_lookup_elem(&stack_lives, &stack);
}

/* A block of this stack has been counted as allocated. */
static __always_inline void count_size(const struct hawk_block *block)
{
	struct hawk_stack_lives *lives = settings.histograms ? lives_of(block->stack) : NULL;

	if (lives)
		__sync_fetch_and_add(&lives->sizes[hawk_class_of(block->size_bytes, HAWK_SIZE_CLASSES)], 1);
}

static __always_inline void count_lifetime(const struct hawk_thread *thread, struct hawk_stack_lives *lives, __u64 born,
					   __u64 address)
{
	__u64 now_ms = hawk_stamp_ms(state.clock), born_ms = hawk_stamp_ms(born);
	__u32 class = hawk_class_of(now_ms > born_ms ? now_ms - born_ms : 0, HAWK_LIFETIME_CLASSES);

	__sync_fetch_and_add(&lives->lifetimes[class], 1);
	if (!class || thread->last_allocated == address)
		__sync_fetch_and_add(&lives->temporary, 1);
}

/* The thread has freed a block of this stack. Not static: checked once by the verifier. */
__noinline int count_death(struct hawk_thread *thread, __u32 stack, __u64 born, __u64 address)
{
	struct hawk_stack_lives *lives = lives_of(stack);
	const struct hawk_stack_record *record = bpf_map_lookup_elem(&stack_records, &stack);

	if (!thread || !lives || !record)
		return 0;
	if (settings.histograms)
		count_lifetime(thread, lives, born & HAWK_STAMP_MOST, address);
	if (settings.by_thread && record->thread && record->thread != thread->tid)
		__sync_fetch_and_add(&lives->freed_by_others, 1);
	return 0;
}

#endif
