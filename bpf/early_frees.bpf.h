/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Blocks of posix_memalign that are freed before it has returned. It stores the address where the program says, and another thread
 * may be waiting there: that one's free is seen first, and knows no block. Without a note of it the block would be counted when
 * the call returns, and never freed. */
#ifndef HAWKTRACE_EARLY_FREES_BPF_H
#define HAWKTRACE_EARLY_FREES_BPF_H

#include "bpf/maps.bpf.h"

/* Where each is follows from its address and its program. Written by programs only. */
struct hawk_early_free early_frees[HAWK_EARLY_FREES];

/* How many have been noted. */
__u64 early_frees_noted __attribute__((aligned(64)));

static __always_inline struct hawk_early_free *early_free_of(__u32 program, __u64 address)
{
	return &early_frees[(__u32)((address ^ program) * HAWK_GOLDEN_RATIO >> 56) & (HAWK_EARLY_FREES - 1)];
}

static __noinline void keep_unknown_free(__u32 program, __u64 address)
{
	struct hawk_early_free *note = early_free_of(program, address);

	note->number = __sync_fetch_and_add(&early_frees_noted, 1) + 1;
	note->task = bpf_get_current_task();
	note->program = program;
	note->address = address;
}

/* The live table does not know the block at `address`, which is given back. */
static __always_inline void note_unknown_free(__u32 program, __u64 address)
{
	if (state.has_stored_results)
		keep_unknown_free(program, address);
}

/* A call begins that stores its result. By a count, since to ask for the time is a call, of which each of these would pay. Apart, as
 * what follows is: stack is short in what every call passes. */
static __noinline void begin_stored_result(struct hawk_call *call)
{
	if (!state.has_stored_results)
		state.has_stored_results = 1;
	call->frees_noted = early_frees_noted;
}

static __noinline bool is_noted_since(const struct hawk_call *call, __u64 address)
{
	const struct hawk_early_free *note = early_free_of(call->program, address);

	return note->address == address && note->program == call->program && note->number > call->frees_noted &&
	       note->task != bpf_get_current_task();
}

/* Whether the block at `address`, which the call has stored, has been freed since it began. Nearly always nothing has been noted
 * since then, and no note is looked at: they lie in as many cache lines as there are addresses. */
static __always_inline bool freed_early(const struct hawk_call *call, __u64 address)
{
	return early_frees_noted != call->frees_noted && is_noted_since(call, address);
}

#endif
