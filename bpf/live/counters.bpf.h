/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The counters of stacks, which must agree with the live table: for each stack, allocated - freed is the sum over the blocks in
 * the table. */
#ifndef HAWKTRACE_LIVE_COUNTERS_BPF_H
#define HAWKTRACE_LIVE_COUNTERS_BPF_H

#include "bpf/block_lives.bpf.h"
#include "bpf/maps.bpf.h"

/* A number of the target's own that is not of a stack. */
static __always_inline __u32 reserved_number(__u32 program, __u32 which)
{
	return target_at(program)->reserved_numbers + which;
}

/* Whether each CPU has a stripe of `stripes` to itself. With preemption off nobody else adds there then: no locked instruction is
 * needed, each of which takes as long as twenty others. What adds with preemption on does so in one instruction. */
static __always_inline bool cpus_own_stripes(__u32 stripes)
{
	return settings.cpus <= stripes;
}

/* `is_alone`: with preemption off, and in a stripe of this CPU's own. */
static __always_inline void add_to(__u64 *counter, __u64 value, const bool is_alone)
{
	if (is_alone)
		*counter += value;
	else
		__sync_fetch_and_add(counter, value);
}

static __always_inline void count_allocated_on(__u32 stack, __u64 size_bytes, __u64 count, const bool is_alone)
{
	struct hawk_counters *c = counters_of(stack);

	if (!c)
		return;
	add_to(&c->allocated_bytes, size_bytes, is_alone);
	add_to(&c->allocated_count, count, is_alone);
}

static __always_inline void count_freed_on(__u32 stack, __u64 size_bytes, __u64 count, const bool is_alone)
{
	struct hawk_counters *c = counters_of(stack);

	if (!c)
		return;
	add_to(&c->freed_bytes, size_bytes, is_alone);
	add_to(&c->freed_count, count, is_alone);
}

static __always_inline void count_allocated(const struct hawk_block *block)
{
	count_allocated_on(block->stack, block->size_bytes, 1, false);
}

static __always_inline void count_freed(const struct hawk_block *block)
{
	count_freed_on(block->stack, block->size_bytes, 1, false);
}

/* The same where they are not what every call needs. Not static: checked once by the verifier, which copies a program for each look-up
 * in it. Not to be called with preemption disabled. */
__noinline int count_allocated_apart(__u32 stack, __u64 size_bytes, __u64 count)
{
	count_allocated_on(stack, size_bytes, count, false);
	return 0;
}

__noinline int count_freed_apart(__u32 stack, __u64 size_bytes, __u64 count)
{
	count_freed_on(stack, size_bytes, count, false);
	return 0;
}

static __always_inline void count_untraced_free(__u32 program)
{
	count_freed_apart(reserved_number(program, HAWK_UNTRACED), 0, 1);
}

#endif
