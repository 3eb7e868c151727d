/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* From Linux 6.13 on the verifier gives a program with much stack one of its own for each CPU, as it may do with programs that it does not
 * let begin again on a CPU where they run. To uprobe programs it does so as well, although nothing keeps those from that: they run with
 * migration disabled, but where the kernel preempts itself another thread may enter the same program on the same CPU, and overwrite
 * the stack of the first: wrong numbers at best, a crash of the kernel at worst. */
#ifndef HAWKTRACE_THREADS_STACK_BPF_H
#define HAWKTRACE_THREADS_STACK_BPF_H

#include "vmlinux.h"

#include <bpf/bpf_helpers.h>

/* First in every program that is a uprobe; scripts/check_bpf_stacks demands it. Keeps the verifier from that: a program with a tail call
 * anywhere among its instructions has the stack of the thread that it interrupts (check_max_stack_depth() of kernel/bpf/verifier.c). It looks
 * for one (check_subprogs()) before it knows what is never reached; that is dropped afterwards, so that no map is needed, which programs of
 * different kinds could not share, and a hit pays for nothing but the callee's place in the JIT's frame. */
static __always_inline void stay_on_threads_stack(void)
{
	asm volatile("r0 = 0\n\t"
		     "if r0 == 0 goto +1\n\t"
		     "call %[tail_call]"
		     :
		     : [tail_call] "i"(BPF_FUNC_tail_call)
		     : "r0", "r1", "r2", "r3", "r4", "r5");
}

#endif
