/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Return addresses in whose place the kernel has put its trampoline, because a return probe is pending. */
#ifndef HAWKTRACE_REPLACED_RETURNS_BPF_H
#define HAWKTRACE_REPLACED_RETURNS_BPF_H

#include "bpf/loops.bpf.h"
#include "bpf/maps.bpf.h"

/* Where the kernel's return trampoline lies in this process; 0: it has none. Not static: checked once by the verifier. */
__noinline __u64 trampoline_address(void)
{
	struct mm_struct *mm = BPF_CORE_READ(bpf_get_current_task_btf(), mm);
	struct xol_area *area = mm ? BPF_CORE_READ(mm, uprobes_state.xol_area) : NULL;

	return area ? BPF_CORE_READ(area, vaddr) : 0;
}

/* Return probes that one thread can have open, one inside the other. */
#define HAWK_MAX_RETURN_INSTANCES 64

/* A look through them for the one of a slot on the stack. */
struct hawk_instance_search {
	struct return_instance *instance;
	__u64 slot;
	__u64 trampoline;
	__u64 replaced;
};

static long look_at_instance(__u32 number, struct hawk_instance_search *search)
{
	struct return_instance *instance = search->instance;

	if (!instance)
		return 1;
	__u64 replaced = BPF_CORE_READ(instance, orig_ret_vaddr);

	/* Several probes of one call, and tail calls, replace each other's trampoline. */
	if (BPF_CORE_READ(instance, stack) == search->slot && replaced != search->trampoline) {
		search->replaced = replaced;
		return 1;
	}
	search->instance = BPF_CORE_READ(instance, next);
	return 0;
}

/* The return address that the kernel has replaced at `slot`; 0: it has none. Not static: checked once by the verifier, and not for
 * each of its callers' states. */
__noinline __u64 replaced_return(__u64 slot, __u64 trampoline)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct hawk_instance_search search = {
		.instance = BPF_CORE_READ(task, utask, return_instances),
		.slot = slot,
		.trampoline = trampoline,
	};

	loop_apart(HAWK_MAX_RETURN_INSTANCES, look_at_instance, &search);
	return search.replaced;
}

#endif
