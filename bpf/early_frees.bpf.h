/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Blocks of posix_memalign that are freed before it has returned. It stores the address where the program says, and another thread
 * may be waiting there: that one's free is seen first, and knows no block. Without a note of it the block would be counted when
 * the call returns, and never freed. */
#ifndef HAWKTRACE_EARLY_FREES_BPF_H
#define HAWKTRACE_EARLY_FREES_BPF_H

#include "bpf/maps.bpf.h"

/* Where each is follows from its address and its program. Written by programs only. */
struct hawk_early_free early_frees[HAWK_EARLY_FREES];

static __always_inline struct hawk_early_free *early_free_of(__u32 program, __u64 address)
{
	return &early_frees[(__u32)((address ^ program) * HAWK_GOLDEN_RATIO >> 56) & (HAWK_EARLY_FREES - 1)];
}

/* The live table does not know the block at `address`, which is given back. */
static __always_inline void note_unknown_free(__u32 program, __u64 address)
{
	struct hawk_early_free *note = early_free_of(program, address);

	if (!state.has_stored_results)
		return;
	note->time_ns = bpf_ktime_get_ns();
	note->task = bpf_get_current_task();
	note->program = program;
	note->address = address;
}

/* Since when a call is open that stores its result. */
static __always_inline __u64 begin_stored_result(void)
{
	state.has_stored_results = 1;
	return bpf_ktime_get_ns();
}

/* Whether the block that such a call has stored has been freed since. */
static __always_inline bool freed_early(__u32 program, __u64 address, __u64 opened_at_ns)
{
	const struct hawk_early_free *note = early_free_of(program, address);

	return note->address == address && note->program == program && note->time_ns >= opened_at_ns && note->task != bpf_get_current_task();
}

#endif
