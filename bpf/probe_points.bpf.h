/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The last look at the probes' breakpoints (probe_points.h). User space looks at them in between, and while the target lives;
 * what changes after that is seen here. */
#ifndef HAWKTRACE_PROBE_POINTS_BPF_H
#define HAWKTRACE_PROBE_POINTS_BPF_H

#include "bpf/arch/x86_64/left_call.bpf.h"
#include "bpf/probe_points.h"
#include "bpf/threads.bpf.h"

/* Of all targets, each of which says which are its own. Written by user space, and left as they are until those that have borrowed
 * them are known to it. */
struct hawk_probe_point probe_points[HAWK_MAX_PROBE_POINTS];

/* Where a library was, data may lie by now. */
static __always_inline bool is_code(__u64 address)
{
	struct vm_area_struct *vma = search_tree(address);

	return vma && BPF_CORE_READ(vma, vm_start) <= address && address < BPF_CORE_READ(vma, vm_end) &&
	       (BPF_CORE_READ(vma, vm_flags) & HAWK_VM_EXEC);
}

/* Where to look. */
struct hawk_look {
	struct hawk_new_code code; /* memory 0: at the addresses that user space has set */
	struct hawk_range unrun;   /* not there */
	__u64 points;
	__u32 is_borrowed;
	__u32 program;            /* of which target */
};

static __always_inline __u64 address_of_point(const struct hawk_probe_point *point, const struct hawk_new_code *code)
{
	__u64 offset = point->file_offset - code->file_offset;

	if (!code->memory)
		return point->address;
	if (point->inode != code->inode || point->device != code->device || offset >= code->end - code->start)
		return 0;
	/* Where user space has heard of it, it is looked at as there. */
	return code->start + offset != point->address ? code->start + offset : 0;
}

/* Whether the file is still mapped there, if it must be this one, or its code was moved into anonymous memory. */
static __always_inline bool is_still_code(__u64 address, const struct hawk_probe_point *point, bool must_be_its_file)
{
	struct vm_area_struct *vma = search_tree(address);
	struct file *file;
	struct inode *inode;

	if (!is_code(address))
		return false;
	file = BPF_CORE_READ(vma, vm_file);
	if (!must_be_its_file || !file)
		return true;
	inode = inode_of(file);
	return BPF_CORE_READ(inode, i_ino) == point->inode && BPF_CORE_READ(inode, i_sb, s_dev) == point->device;
}

/* 1: no more are to be looked at. Not static: checked once by the verifier, and not for each of those who look. */
__noinline int examine_point(__u32 index, const struct hawk_look *look)
{
	if (!look)
		return 1;
	struct hawk_probe_point *point =
		&probe_points[(hawk_points_first(look->points) + index) & (HAWK_MAX_PROBE_POINTS - 1)];
	__u64 memory[HAWK_POINT_WORDS] = {}, address = address_of_point(point, &look->code);
	__u32 bytes = ((point->bytes - 1) & (HAWK_POINT_BYTES - 1)) + 1;

	/* Code that is not there, or has not run at all or since it was dropped. */
	if (!address || (address >= look->unrun.start && address < look->unrun.end) || bpf_probe_read_user(memory, bytes, (const void *)address))
		return 0;
	/* Asked after the reading: until then no breakpoint had been removed by us. */
	if (!target_at(look->program)->enabled)
		return 1;
	/* What user space has set it judges by what is mapped then. */
	bool is_missing = !hawk_point_has_breakpoint(point, memory) &&
			  is_still_code(address, point, look->code.memory || look->is_borrowed);

	/* Asked after the reading: whether it was what had been lent. If not, nothing is known. */
	if (*(volatile __u32 *)&point->set != hawk_points_set(look->points)) {
		count_loss(look->program, HAWK_LOSS_MISSING_BREAKPOINT);
		return 1;
	}
	if (!is_missing)
		return 0;
	if (look->is_borrowed)
		count_loss(look->program, HAWK_LOSS_MISSING_BREAKPOINT);
	else
		point->is_missing |= look->code.memory ? HAWK_MISSING_IN_NEW_CODE : HAWK_MISSING_THERE;
	return 0;
}

static long look_at_point(__u32 index, struct hawk_look *look)
{
	long is_done = examine_point(index, look);

	/* The compiler knows that it is one bit, the verifier does not. */
	barrier_var(is_done);
	return is_done & 1;
}

static long look_in_new_code(__u32 index, __u64 *of_program)
{
	const struct hawk_target *target = target_at(*of_program);
	struct hawk_look look = { .code = target->new_code[index & (HAWK_NEW_CODE - 1)],
				  .unrun = target->unrun_code,
				  .points = target->probe_points,
				  .is_borrowed = target->borrows_points,
				  .program = *of_program };

	if (look.code.memory && look.code.memory == target->memory)
		bpf_loop(hawk_points_count(look.points), look_at_point, &look, 0);
	return 0;
}

/* The memory of the current thread, a target's last one, is about to go: by its end or by an exec. A process that is killed while it
 * maps code gets no breakpoints there (fatal_signal_pending in uprobe_mmap). */
static __always_inline void look_a_last_time(bool ends)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 memory = memory_key(task);

	if (!state.enabled)
		return;
	struct hawk_target *target = target_of_current_group();

	if (!target || !target->enabled)
		return;
	/* It was killed inside an exec, which has given it other memory, and has begun no program in it. */
	if (ends && memory && memory != target->memory)
		target->unrun_code.end = HAWK_END_OF_MEMORY;
	if (memory != target->memory)
		return;
	if (ends && !target->is_shared)
		target->unrun_code = unrun_code_of(task);
	struct hawk_look look = { .unrun = target->unrun_code,
				  .points = target->probe_points,
				  .is_borrowed = target->borrows_points,
				  .program = target->program };
	__u64 program = target->program;

	if (!hawk_points_count(look.points))
		return;
	if (look.is_borrowed != HAWK_POINTS_OF_MAKER_ELSEWHERE)
		bpf_loop(hawk_points_count(look.points), look_at_point, &look, 0);
	bpf_loop(HAWK_NEW_CODE, look_in_new_code, &program, 0);
}

/* The current thread is the last one of its process: a program that has its dynamic linker at work has run nothing else. Up to 6.15
 * its memory is gone by now. */
static __always_inline void note_where_it_ended(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	const struct pt_regs *registers = (const struct pt_regs *)bpf_task_pt_regs(task);
	struct hawk_target *target = target_of_current_group();
	struct vm_area_struct *vma;
	struct file *file, *own;
	__u64 ip;

	if (!target || !BPF_CORE_READ(task, mm))
		return;
	ip = BPF_CORE_READ(registers, ip);
	vma = search_tree(ip);
	if (!vma || ip < BPF_CORE_READ(vma, vm_start))
		return;
	file = BPF_CORE_READ(vma, vm_file);
	own = BPF_CORE_READ(task, mm, exe_file);
	target->ended_elsewhere = file && own && BPF_CORE_READ(file, f_inode) != BPF_CORE_READ(own, f_inode);
}

/* Whether no other thread of the current process will run any more. */
static __always_inline bool is_last_thread(void)
{
	struct task_struct *task = bpf_get_current_task_btf();

	return BPF_CORE_READ(task, signal, live.counter) == 0;
}

#endif
