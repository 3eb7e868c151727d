// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Which processes the kernel kills for lack of memory. Apart from the other programs, which are not loaded while nothing is
// traced.
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/oom_victims.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* Numbers of processes. More at a time than it has room for are not announced. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, HAWK_OOM_RING_BYTES);
} oom_victims SEC(".maps");

/* The inode of user space's pid namespace. */
const volatile __u32 own_pid_namespace = 0;

/* The number of a process in the pid namespace of user space; 0: it has none there. */
static __always_inline __u32 own_number_of(const struct task_struct *task)
{
	struct pid *pid = BPF_CORE_READ(task, signal, pids[PIDTYPE_TGID]);
	__u32 level = BPF_CORE_READ(pid, level);
	struct upid upid = {};

	for (__u32 i = 0; i < HAWK_PID_LEVELS && i <= level; i++) {
		/* Or clang would count down, from a number that the verifier of Linux 6.1 does not know. */
		barrier_var(i);
		bpf_probe_read_kernel(&upid, sizeof(upid),
				      (void *)pid + bpf_core_field_offset(struct pid, numbers) + i * sizeof(upid));
		if (BPF_CORE_READ(upid.ns, ns.inum) == own_pid_namespace)
			return upid.nr;
	}
	return 0;
}

// Since 6.9, and where that has been taken over, the tracepoint has the victim; before, its number in the first namespace.
SEC("raw_tp/mark_victim")
int note_oom_victim(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 number = 0;

	if (bpf_core_field_exists(struct trace_event_raw_mark_victim, uid))
		number = own_number_of((const struct task_struct *)ctx->args[0]);
	else if (own_pid_namespace == HAWK_FIRST_PID_NAMESPACE)
		number = ctx->args[0];
	if (number)
		bpf_ringbuf_output(&oom_victims, &number, sizeof(number), 0);
	return 0;
}
