/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The processes that targets start, and those that these start. Unless they are followed (followed_children.bpf.h) they are not
 * traced: they are counted, and the programs that they run are named, so that the target's numbers are not taken for those of
 * all. */
#ifndef HAWKTRACE_CHILDREN_BPF_H
#define HAWKTRACE_CHILDREN_BPF_H

#include "bpf/calls.bpf.h"
#include "bpf/followed_children.bpf.h"
#include "bpf/layout.h"
#include "bpf/maps.bpf.h"
#include "bpf/target_programs.bpf.h"
#include "bpf/threads.bpf.h"

/* What is known of a task of such a process. */
struct hawk_child {
	__u32 is_counted;         /* in UNTRACED_CHILD */
	__u32 has_executed;       /* a program of its own */
	__u32 program;            /* of whose target it is, by birth */
	__u32 has_events;         /* perf events, which it has from its maker */
	__u64 probed_files_mask;  /* of the target on whose memory it works, when it was made */
};

/* Task -> the above. Written by programs only. No memory: what the task starts is neither counted nor named; the task itself is
 * counted. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct hawk_child);
} children SEC(".maps");

/* Target and name of a program -> how often such processes have begun to run it. Written by programs only. Full: further programs have no
 * name. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct hawk_program_name);
	__type(value, __u64);
	__uint(max_entries, HAWK_MAX_CHILD_PROGRAMS);
} child_programs SEC(".maps");

static __always_inline void count_program(struct task_struct *task, __u32 program)
{
	struct hawk_program_name name = { .target = program & HAWK_TARGET_MASK };
	__u64 none = 0, *count;

	BPF_CORE_READ_INTO(&name.comm, task, comm);
	bpf_map_update_elem(&child_programs, &name, &none, BPF_NOEXIST);
	count = bpf_map_lookup_elem(&child_programs, &name);
	if (count)
		__sync_fetch_and_add(count, 1);
}

static __always_inline void note_child(struct task_struct *task, struct hawk_child what)
{
	struct hawk_child *known = bpf_task_storage_get(&children, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!known)
		return;
	*known = what;
	state.has_children = 1;
	target_at(what.program)->has_children = 1;
}

/* The current task makes `task`: a thread, a process with memory of its own, or one that shares the maker's memory until it runs
 * a program (vfork). The last is not counted as long as it shares: on the target's memory it is the target. */
static __always_inline void on_fork(struct task_struct *task, bool may_hold)
{
	struct task_struct *maker = bpf_get_current_task_btf();
	struct hawk_child what = {}, *maker_known = NULL;

	if (!state.enabled)
		return;
	if (state.has_children)
		maker_known = bpf_task_storage_get(&children, maker, NULL, 0);
	struct hawk_target *target = target_on_memory_of(maker);
	bool is_copy = memory_key(task) != memory_key(maker);

	if (target && !is_copy)
		target->is_shared = 1;
	if (BPF_CORE_READ(task, tgid) == BPF_CORE_READ(maker, tgid)) {
		if (maker_known)
			note_child(task, *maker_known);
		return;
	}
	if (target && target->enabled) {
		if (is_copy && follow_fork(target, task, may_hold))
			return;
		what.program = target->program;
		what.probed_files_mask = target->probed_files_mask;
		what.has_events = has_perf_events(task);
	} else if (maker_known) {
		what.program = maker_known->program;
	} else {
		return;
	}
	if (is_copy) {
		count_loss(what.program, HAWK_LOSS_UNTRACED_CHILD);
		what.is_counted = 1;
	}
	note_child(task, what);
}

/* The current task has begun to run a program. */
static __always_inline void on_child_exec(bool may_hold)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct hawk_child *known;

	if (!state.has_children || !state.enabled)
		return;
	known = bpf_task_storage_get(&children, task, NULL, 0);
	if (!known || !target_at(known->program)->enabled || known->program < target_at(known->program)->first_program)
		return;
	if (!known->is_counted && follow_exec(known->program, known->probed_files_mask, known->has_events, may_hold)) {
		bpf_task_storage_delete(&children, task);
		return;
	}
	if (!known->is_counted)
		count_loss(known->program, HAWK_LOSS_UNTRACED_CHILD);
	if (!known->has_executed)
		__sync_fetch_and_add(&target_at(known->program)->children_executed, 1);
	known->is_counted = 1;
	known->has_executed = 1;
	count_program(task, known->program);
}

/* Any process has made `child`, which may be a thread of its own. */
static __always_inline int on_process_fork(struct task_struct *child, bool may_hold)
{
	if (BPF_CORE_READ(child, tgid) == BPF_CORE_READ(child, pid))
		__sync_fetch_and_add(&state.processes_begun, 1);
	on_fork(child, may_hold);
	return 0;
}

/* The old program's heap is gone. The new one's number keeps their blocks and stacks apart. */
static __always_inline int on_process_exec(bool may_hold)
{
	__u64 key = current_key();
	struct hawk_thread *thread = thread_with_key(key);
	struct hawk_target *target = target_of_current_group();

	__sync_fetch_and_add(&state.processes_begun, 1);
	if (!target)
		on_child_exec(may_hold);
	if (!target && !thread)
		return 0;
	if (thread && target)
		forget_calls(thread);
	else if (thread)
		close_calls(thread, true);
	release_slot(key);
	bpf_task_storage_delete(&threads, bpf_get_current_task_btf());
	if (target)
		begin_program(target);
	return 0;
}

#endif
