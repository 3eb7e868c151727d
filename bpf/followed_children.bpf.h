/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Processes that targets start become targets themselves, from their first instruction on: user space keeps targets ready that
 * nothing runs on (spare_targets), and a program takes one as soon as a process is born, or leaves the memory of the target that
 * has made it. User space learns of it later (births), and the process need not wait for that. */
#ifndef HAWKTRACE_FOLLOWED_CHILDREN_BPF_H
#define HAWKTRACE_FOLLOWED_CHILDREN_BPF_H

#include "bpf/calls.bpf.h"
#include "bpf/free_lists.bpf.h"
#include "bpf/layout.h"
#include "bpf/maps.bpf.h"
#include "bpf/target_programs.bpf.h"
#include "bpf/threads.bpf.h"

/* Places in targets, each with a program's number and stack numbers of its own. User space adds, programs take. Empty: the process
 * is not traced, and counted as such. */
struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, HAWK_MAX_TARGETS);
	__type(value, __u32);
} spare_targets SEC(".maps");

/* The number of a process in the pid namespace of user space; 0: it has none there. */
static __always_inline __u32 visible_pid(const struct task_struct *task)
{
	return visible_number(BPF_CORE_READ(task, signal, pids[PIDTYPE_TGID]));
}

/* Takes a spare target for the process of `task`, which a target's program has made; NULL: there is none. It is not enabled yet. */
static __always_inline struct hawk_target *take_spare(const struct task_struct *task, __u32 maker)
{
	__u32 number = 0, pid = visible_pid(task);
	struct hawk_target *target;

	if (!pid || !memory_key(task) || bpf_map_pop_elem(&spare_targets, &number))
		return NULL;
	target = target_at(number);
	target->pid = pid;
	target->maker = maker;
	target->born_ns = bpf_ktime_get_ns();
	target->program_began_ns = target->born_ns;
	begin_without_ranges(target);
	note_target(task, target->program);
	return target;
}

static __always_inline void enable_child(struct hawk_target *target)
{
	target->enabled = target->first_program;
	__sync_fetch_and_add(&state.births, 1);
	announce_birth(target);
}

/* Until user space has heard of it: what its last look needs (probe_points.h). Where the maker has mapped code a moment ago, a copy of
 * its memory has that, too. */
static __always_inline void borrow_points(struct hawk_target *target, const struct hawk_target *maker, bool is_copy)
{
	target->probe_points = maker->probe_points;
	target->borrows_points = is_copy && maker->borrows_points != HAWK_POINTS_OF_MAKER_ELSEWHERE ?
					 HAWK_POINTS_OF_MAKER :
					 HAWK_POINTS_OF_MAKER_ELSEWHERE;
	bpf_probe_read_kernel(&target->probed_files, sizeof(target->probed_files), &maker->probed_files);
	if (!is_copy)
		return;
	bpf_probe_read_kernel(&target->new_code, sizeof(target->new_code), &maker->new_code);
	for (int i = 0; i < HAWK_NEW_CODE; i++)
		target->new_code[i].memory = target->new_code[i].memory == maker->memory ? target->memory : 0;
	target->new_code_next = maker->new_code_next;
}

/* The current thread makes `child` inside an allocating call. The child has a copy of that call, and will be given what it returns there,
 * but not of what is known of it. A call that lies below the stack has been left, and so has one whose slot has been used again. */
static __always_inline void count_copied_call(const struct hawk_target *child)
{
	struct hawk_thread *thread = thread_with_key(current_key());
	const struct pt_regs *registers = (const struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
	__u64 word = 0;

	if (is_before_block(thread))
		count_loss(child->program, HAWK_LOSS_LOST_CALL);
	if (!thread || thread->call.sp <= BPF_CORE_READ(registers, sp))
		return;
	if (look_at_slot(thread, &thread->call, &word) != HAWK_SLOT_USED_AGAIN)
		count_loss(child->program, HAWK_LOSS_LOST_CALL);
}

/* A process that a target makes by fork: with a copy of its memory, and so with its files where that has them. False: it cannot be
 * followed. */
static __always_inline bool follow_fork(struct hawk_target *maker, const struct task_struct *task, bool may_hold)
{
	struct hawk_target *target;

	if (!settings.follows_children)
		return false;
	target = take_spare(task, maker->program);
	if (!target)
		return false;
	target->several_allocators = maker->several_allocators;
	target->probed_files_mask = maker->probed_files_mask;
	bpf_probe_read_kernel(&target->files, sizeof(target->files), &maker->files);
	borrow_points(target, maker, true);
	if (settings.follows_regions)
		announce_copy(target, maker, task);
	count_copied_call(target);
	enable_child(target);
	if (may_hold && are_spares_few())
		hold_for_spares(target);
	return true;
}

/* What the kernel has mapped of a program that begins: its own file, and the dynamic linker's or what else comes first. */
static __always_inline void announce_first_mappings(struct hawk_target *target)
{
	struct task_struct *task = bpf_get_current_task_btf();
	const struct pt_regs *registers = (const struct pt_regs *)bpf_task_pt_regs(task);
	struct vm_area_struct *own = search_tree(BPF_CORE_READ(task, mm, start_code));
	struct vm_area_struct *first = search_tree(BPF_CORE_READ(registers, ip));

	if (own)
		take_mapping(target, own, true);
	if (first && first != own)
		take_mapping(target, first, true);
}

/* The current process begins to run a program, after it has worked on the memory of the target that has made it (vfork,
 * posix_spawn). False: it cannot be followed. `probed_files_mask`: of that target, when it was made; `had_events`:
 * see count_taken_events. */
static __always_inline bool follow_exec(__u32 maker, __u64 probed_files_mask, bool had_events, bool may_hold)
{
	struct hawk_target *target;

	if (!settings.follows_children)
		return false;
	target = take_spare(bpf_get_current_task_btf(), maker);
	if (!target)
		return false;
	target->is_new_program = 1;
	/* Where one allocator passes frees on to another, the new program's does so before user space has looked at its files. */
	target->several_allocators = target_at(maker)->several_allocators;
	target->probed_files_mask = probed_files_mask;
	borrow_points(target, target_at(maker), false);
	if (settings.follows_regions)
		announce_memory(target);
	enable_child(target);
	count_taken_events(target->program, had_events);
	if (may_hold)
		announce_first_mappings(target);
	announce_replaced_program(target);
	return true;
}

#endif
