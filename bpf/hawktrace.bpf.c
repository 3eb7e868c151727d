// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The list of hooks. User space decides which of them are loaded, as which kind of uprobe, and where they sit:
//
//   session   alloc_session on every allocating function
//   multi     alloc_entry and alloc_return on every allocating function
//   perf      the same, one perf event each
//   always    free_entry; for functions that may throw alloc_entry and alloc_at_ret; module_init; the tracepoints
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/calls.bpf.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

// 6.13 to 6.x take no argument, 7.0 on take the context (kernel commit 8fe4dc4f6456). vmlinux.h declares the former.
extern bool bpf_session_is_return___ctx(void *ctx) __weak __ksym;

static __always_inline bool session_is_return(struct pt_regs *ctx)
{
	if (bpf_ksym_exists(bpf_session_is_return___ctx))
		return bpf_session_is_return___ctx(ctx);
	return bpf_session_is_return();
}

SEC("uprobe")
int alloc_session(struct pt_regs *ctx)
{
	if (session_is_return(ctx)) {
		on_return(ctx, ctx->ip, ctx->sp); // ip is the restored return address, sp what the ret left
		return 0;
	}
	return on_entry(ctx, bpf_get_attach_cookie(ctx)) ? 0 : 1; // 1: leave the return half out
}

SEC("uprobe")
int alloc_entry(struct pt_regs *ctx)
{
	on_entry(ctx, bpf_get_attach_cookie(ctx));
	return 0;
}

SEC("uprobe")
int alloc_return(struct pt_regs *ctx)
{
	on_return(ctx, ctx->ip, ctx->sp);
	return 0;
}

// On a ret instruction of a function that may throw: the return address is still on the stack.
SEC("uprobe")
int alloc_at_ret(struct pt_regs *ctx)
{
	__u64 pc;

	if (!bpf_probe_read_user(&pc, sizeof(pc), (void *)ctx->sp))
		on_return(ctx, pc, ctx->sp + 8);
	return 0;
}

SEC("uprobe")
int free_entry(struct pt_regs *ctx)
{
	on_free(ctx, bpf_get_attach_cookie(ctx));
	return 0;
}

// On code that the dynamic linker runs once when it loads a file with frameless functions: tells where the file lies.
SEC("uprobe")
int module_init(struct pt_regs *ctx)
{
	__u64 module = bpf_get_attach_cookie(ctx);

	if (is_target() && module < HAWK_MAX_FRAMELESS_MODULES)
		state.frameless[module].base = ctx->ip - state.frameless[module].init_vaddr;
	return 0;
}

// The old program's heap is gone. A new epoch keeps its blocks and stacks apart from the new program's.
SEC("tp_btf/sched_process_exec")
int BPF_PROG(process_exec, struct task_struct *task)
{
	if (!is_target())
		return 0;
	struct hawk_thread *thread = bpf_task_storage_get(&threads, task, NULL, 0);

	if (thread && thread->call.old_found)
		leave_hand(&thread->call);
	if (thread)
		thread->call.sp = 0;
	for (int i = 0; i < HAWK_MAX_FRAMELESS_MODULES; i++)
		state.frameless[i].base = 0;
	__sync_fetch_and_add(&state.exec_epoch, 1);
	return 0;
}

// A thread that ends inside an allocator call. When the whole process ends, or replaces its program, that is no loss: the
// program was never given what the call would have returned.
SEC("tp_btf/sched_process_exit")
int BPF_PROG(thread_exit, struct task_struct *task)
{
	if (!is_target())
		return 0;
	struct hawk_thread *thread = bpf_task_storage_get(&threads, task, NULL, 0);
	const __u32 group_exit = 0x4; // SIGNAL_GROUP_EXIT, include/linux/sched/signal.h

	struct signal_struct *signal = task->signal;
	bool all_end = (signal->flags & group_exit) || signal->group_exec_task;

	if (thread && thread->call.sp)
		abandon(&thread->call, !thread->call.may_throw && !all_end);
	return 0;
}
