/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The system call that a thread was in when it ended, by the registers that it had entered the kernel with: it has not run a single
 * instruction since. */
#ifndef HAWKTRACE_ARCH_X86_64_LEFT_CALL_BPF_H
#define HAWKTRACE_ARCH_X86_64_LEFT_CALL_BPF_H

#include <bpf/bpf_core_read.h>

#include "bpf/arch/x86_64/system_calls.h"
#include "bpf/targets.h"

/* What has not run of the memory of `task`, the only thread that uses it: what its last call has mapped, or all of it, if that
 * was an exec. A call sets its result before signals are looked at, and an interrupt has the number -1. */
static __always_inline struct hawk_range unrun_code_of(struct task_struct *task)
{
	const struct pt_regs *registers = (const struct pt_regs *)bpf_task_pt_regs(task);
	__u64 call = BPF_CORE_READ(registers, orig_ax), result = BPF_CORE_READ(registers, ax);
	struct hawk_range unrun = {};

	/* A debugger can set them as it likes. */
	if ((BPF_CORE_READ(task, thread_info.status) & HAWK_TS_COMPAT) || BPF_CORE_READ(task, ptrace))
		return unrun;
	if (call == HAWK_SYSCALL_MMAP && (__s64)result > 0) {
		unrun.start = result;
		unrun.end = result + BPF_CORE_READ(registers, si);
	} else if ((call == HAWK_SYSCALL_EXECVE || call == HAWK_SYSCALL_EXECVEAT) && result == 0) {
		unrun.end = HAWK_END_OF_MEMORY;
	}
	return unrun;
}

#endif
