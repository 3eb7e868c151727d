/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Announces to user space on which memory a target begins (--mappings): with a copy of its maker's, or with a program. */
#ifndef HAWKTRACE_REGION_MEMORIES_BPF_H
#define HAWKTRACE_REGION_MEMORIES_BPF_H

#include "bpf/regions.bpf.h"

/* The process of `task`, a target, begins with the copy that the current thread has made of its maker's memory. What of that is
 * copied to no child (MADV_DONTFORK) is a gap. Nobody runs on the copy yet. */
static __noinline void announce_copy(struct hawk_target *target, struct hawk_target *maker, const struct task_struct *task)
{
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	__u64 pages = BPF_CORE_READ(mm, total_vm), key = current_key();
	struct hawk_region_event event = {
		.memory = target->memory,
		.start = key,
		.program = target->program,
		.change = HAWK_MEMORY_COPIED,
		.lost = target->losses[HAWK_LOSS_REGION_EVENT],
	};
	bool is_all = knows_fork(maker, key) && HAWK_READ_ONCE(maker->forked_pages) == pages && knows_fork(maker, key);

	announce_region(&event);
	target->segment_bytes = maker->segment_bytes;
	begin_regions(target, target->memory, pages);
	if (is_all)
		return;
	struct hawk_region_search search = {
		.target = target,
		.memory = target->memory,
		.root = (__u64)BPF_CORE_READ(mm, mm_mt.ma_root),
		.end = ~0ull,
	};

	search_gaps(&search);
}

static long announce_first_region(__u32 number, struct hawk_region_search *search)
{
	struct hawk_tree_slot slot = {};
	struct hawk_range range = search_next(search, &slot);
	struct hawk_region_event event = {
		.memory = search->memory,
		.start = range.start,
		.end = range.end,
		.program = search->target->program,
		.change = HAWK_REGION_MAPPED,
		.origin = HAWK_REGION_OLDER,
	};

	if (slot.entry) {
		event.kind = kind_of_mapping((struct vm_area_struct *)slot.entry);
		announce_region(&event);
	}
	return search->is_done;
}

/* The current process, a target, begins to run a program: on this memory, where the kernel has mapped what comes before its first
 * instruction. Not all of that was seen in the tree's own events: the stack is moved, and becomes smaller, where there is
 * neither a system call's argument nor an event to tell; and who comes from its maker's memory (vfork) was no target meanwhile. */
static __noinline void announce_memory(struct hawk_target *target)
{
	struct mm_struct *mm = BPF_CORE_READ(bpf_get_current_task_btf(), mm);
	struct hawk_region_event event = {
		.memory = target->memory,
		.program = target->program,
		.change = HAWK_MEMORY_TAKEN,
		.lost = target->losses[HAWK_LOSS_REGION_EVENT],
	};
	struct hawk_region_search search = {
		.target = target,
		.memory = target->memory,
		.root = (__u64)BPF_CORE_READ(mm, mm_mt.ma_root),
		.end = ~0ull,
	};

	announce_region(&event);
	target->segment_bytes = 0;
	begin_regions(target, target->memory, BPF_CORE_READ(mm, total_vm));
	if ((search.root & 3) == 2)
		bpf_loop(HAWK_REGION_STEPS, announce_first_region, &search, 0);
	if (!search.is_done)
		announce_unknown(target, target->memory);
}

#endif
