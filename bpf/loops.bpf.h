/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Loops whose body the verifier checks once, where few events come by. */
#ifndef HAWKTRACE_LOOPS_BPF_H
#define HAWKTRACE_LOOPS_BPF_H

#include <bpf/bpf_helpers.h>

/* 0, which the verifier does not know. */
__u64 no_loop_flags;

/* bpf_loop, which the kernel does not write out in place: it does where it knows the callback, and that there are no flags. Each such
 * insertion has it copy what it knows of every other instruction of the program (bpf_patch_insn_data): one of some twenty instructions
 * takes a millisecond of the time that it takes to load alloc_yield. Where it is not written out, a round takes a few nanoseconds more. */
static __always_inline long loop_apart(__u32 count, void *callback, void *context)
{
	return bpf_loop(count, callback, context, no_loop_flags);
}

#endif
