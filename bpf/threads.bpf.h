/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Finding the state of the current thread. */
#ifndef HAWKTRACE_THREADS_BPF_H
#define HAWKTRACE_THREADS_BPF_H

#include <bpf/bpf_core_read.h>

#include "bpf/mappings.bpf.h"
#include "bpf/maps.bpf.h"

/* What of the kernel's is not read at each event is copied (BPF_CORE_READ), here and in what includes this: for a plain access
 * through a pointer the verifier looks among the names of all types of the kernel whether such pointers may be followed, which
 * takes it up to a millisecond each time that it comes by, and a quarter of all the time to attach. */

/* Slots that may be a thread's: one that follows from its key, and those after it. */
#define HAWK_SLOT_CHOICES 8

/* What a thread is known by while it lives: where the kernel saves its registers, which is what programs on uprobes are given.
 * To ask for its id would be a call, and every event asks. As a distance from something that stays where it is, since the
 * verifier lets only a difference of pointers be a number. */
static __always_inline __u64 thread_key(const void *registers)
{
	return (__u64)registers - (__u64)&state;
}

static __always_inline __u64 current_key(void)
{
	return thread_key((const void *)bpf_task_pt_regs(bpf_get_current_task_btf()));
}

/* What memory is known by: a number that the kernel gives to each and to no other later, unlike the address of its mm_struct,
 * which another process may get as soon as this one has ended (arch/x86/include/asm/mmu.h). 0: a task without memory. */
static __always_inline __u64 memory_key(const struct task_struct *task)
{
	return BPF_CORE_READ(task, mm, context.ctx_id);
}

/* The target whose thread group the current task belongs to; NULL: none's. */
static __always_inline struct hawk_target *target_of_current_group(void)
{
	__u32 group = bpf_get_current_pid_tgid() >> 32;
	__u32 *at = bpf_map_lookup_elem(&target_of_group, &group);

	return at ? target_at(*at) : NULL;
}

/* The target on whose memory `task` works; NULL: none's. A process made by clone(CLONE_VM) or vfork works on its maker's. */
static __always_inline struct hawk_target *target_on_memory_of(const struct task_struct *task)
{
	__u64 memory = memory_key(task);
	__u32 *at = memory ? bpf_map_lookup_elem(&target_of_memory, &memory) : NULL;

	return at ? target_at(*at) : NULL;
}

/* The target whose memory the current task maps into; NULL: none. Of the program that a target is about to run the first mappings
 * are made before its memory is known. */
static __always_inline struct hawk_target *mapping_target(void)
{
	struct hawk_target *target = target_of_current_group();

	return target ? target : target_on_memory_of(bpf_get_current_task_btf());
}

static __always_inline __u32 index_of(const struct hawk_target *target)
{
	return target->program & HAWK_TARGET_MASK;
}

#define SYSCALL_WORK(name) (1ull << bpf_core_enum_value(enum syscall_work_bit, SYSCALL_WORK_BIT_##name))

/* Whether the process that stops this one at each system call only looks: strace lets through what it does not know. Others may
 * deny it, and of that the kernel knows nothing. */
static __always_inline bool is_watched_only(const struct task_struct *task)
{
	const char strace[] = "strace";
	char comm[sizeof(strace)] = {};

	struct task_struct *parent = BPF_CORE_READ(task, parent);

	if (bpf_core_read(comm, sizeof(comm), &parent->comm))
		return false;
	for (__u32 i = 0; i < sizeof(strace); i++) {
		if (comm[i] != strace[i])
			return false;
	}
	return true;
}

static __noinline __u32 interceptors_in(__u64 work, const struct task_struct *task)
{
	__u32 found = 0;

	if (work & SYSCALL_WORK(SYSCALL_USER_DISPATCH))
		found |= HAWK_DISPATCHED;
	if ((work & SYSCALL_WORK(SYSCALL_EMU)) || ((work & SYSCALL_WORK(SYSCALL_TRACE)) && !is_watched_only(task)))
		found |= HAWK_TRACED;
	return found;
}

/* Who intercepts the system calls of `task`. Filters (seccomp) are not asked about those of return probes, from 6.14 on. */
static __always_inline __u32 interceptors_of(const struct task_struct *task)
{
	__u64 work = task->thread_info.syscall_work;

	return work ? interceptors_in(work, task) : 0;
}

/* The current process, a target, has code of allocators elsewhere from now on. Until user space has learnt where, a call from that
 * would be taken for the program's own, and counted as well as the one that it is part of. */
static __always_inline void forget_allocator_ranges(struct hawk_target *target)
{
	/* First: user space sets none that it does not take back if it finds this changed afterwards. */
	__sync_fetch_and_add(&target->allocators_mapped, 1);
	target->files.allocator_range_count = 0;
	target->files.allocators_low = 0;
}

/* Takes the memory of this task, a thread of the target's, for that of the target at `index` in targets. */
static __always_inline void note_target(const struct task_struct *task, __u32 index)
{
	struct hawk_target *target = target_at(index);
	__u64 memory = memory_key(task), before = target->memory;
	__u32 group = BPF_CORE_READ(task, tgid), at = index & HAWK_TARGET_MASK;

	if (!memory)
		return;
	target->group = group;
	target->memory = memory;
	bpf_map_update_elem(&target_of_memory, &memory, &at, BPF_ANY);
	bpf_map_update_elem(&target_of_group, &group, &at, BPF_ANY);
	if (before && before != memory)
		bpf_map_delete_elem(&target_of_memory, &before);
}

/* The last thread of the current process, a target, ends: another one may get its number. */
static __always_inline void end_group(void)
{
	__u32 group = bpf_get_current_pid_tgid() >> 32;
	struct hawk_target *target = target_of_current_group();

	if (target) {
		struct mm_struct *mm = BPF_CORE_READ(bpf_get_current_task_btf(), mm);

		/* Up to 6.15 it is gone by now. */
		target->is_outlived = mm && BPF_CORE_READ(mm, mm_users.counter) > 1;
		target->ended_ns = bpf_ktime_get_ns();
	}
	bpf_map_delete_elem(&target_of_group, &group);
}

static __always_inline __u32 slot_choice(__u64 key, __u32 number)
{
	return (__u32)(key * HAWK_GOLDEN_RATIO >> 40) + number & (HAWK_THREAD_SLOTS - 1);
}

/* One of its slots. */
static __always_inline struct hawk_thread *slot_of_choice(__u64 key, __u32 number)
{
	__u32 slot = slot_choice(key, number);

	return bpf_map_lookup_elem(&thread_slots, &slot);
}

/* A slot of `owner`; NULL: none. */
static __noinline struct hawk_thread *search_slot(__u64 key, __u64 owner)
{
	/* The kernel writes a look-up out in place, which costs as much for each as in loops.bpf.h. */
#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < HAWK_SLOT_CHOICES; i++) {
		struct hawk_thread *thread = slot_of_choice(key, i);

		if (thread && thread->owner == owner)
			return thread;
	}
	return NULL;
}

static __noinline struct hawk_thread *stored_thread(void)
{
	if (!state.threads_in_storage)
		return NULL;
	return bpf_task_storage_get(&threads, bpf_get_current_task_btf(), NULL, 0);
}

static __always_inline struct hawk_thread *thread_with_key(__u64 key)
{
	struct hawk_thread *thread = slot_of_choice(key, 0);

	if (thread && thread->owner == key)
		return thread;
	thread = search_slot(key, key);
	return thread ? thread : stored_thread();
}

/* The state of the current thread, which is one of a target's then; NULL: it has none. */
static __always_inline struct hawk_thread *known_thread(struct pt_regs *ctx)
{
	return thread_with_key(thread_key(ctx));
}

static __always_inline __u64 current_page_tables(void)
{
	return (__u64)BPF_CORE_READ(bpf_get_current_task_btf(), mm, pgd);
}

/* Where the kernel keeps what it knows of the thread and of its memory: the same until it ends or runs another program. */
static __always_inline void note_kernel_places(struct hawk_thread *thread)
{
	thread->preemptions_at = bpf_get_current_task() + bpf_core_field_offset(struct task_struct, nivcsw);
	thread->page_tables = current_page_tables();
	thread->mappings_version_at = find_mappings_version();
}

/* A number of the kernel's as the pid namespace of user space has it; 0: not there. */
static __always_inline __u32 visible_number(const struct pid *pid)
{
	struct upid upid = {};

	if (state.pid_level > BPF_CORE_READ(pid, level))
		return 0;
	bpf_probe_read_kernel(&upid, sizeof(upid),
			      (void *)pid + bpf_core_field_offset(struct pid, numbers) + state.pid_level * sizeof(upid));
	return upid.nr;
}

/* What is in a slot that is free is as in a new one, but for this. */
static __always_inline struct hawk_thread *begin_thread(struct hawk_thread *thread, __u32 program)
{
	if (!thread)
		return NULL;
	thread->call.program = program;
	if (settings.by_thread)
		thread->tid = visible_number(BPF_CORE_READ(bpf_get_current_task_btf(), thread_pid));
	note_kernel_places(thread);
	hawk_forget_walks(&thread->memos);
	thread->classes_at = 0;
	return thread;
}

/* Gives the current thread its state; NULL: it is none of an enabled target's, or there is no memory (counted). */
static __noinline struct hawk_thread *new_thread(struct pt_regs *ctx)
{
	struct hawk_target *target = target_on_memory_of(bpf_get_current_task_btf());
	__u64 key = thread_key(ctx);
	struct hawk_thread *thread;
	__u32 program;

	if (!target || !target->enabled)
		return NULL;
	program = target->program;
	/* When it ends it must be found again. */
	thread = key == current_key() ? search_slot(key, 0) : NULL;
	if (thread && __sync_val_compare_and_swap(&thread->owner, 0, key) == 0)
		return begin_thread(thread, program);
	state.threads_in_storage = 1;
	thread = bpf_task_storage_get(&threads, bpf_get_current_task_btf(), NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!thread)
		count_loss(program, HAWK_LOSS_THREAD_STATE);
	return begin_thread(thread, program);
}

/* It is known now what became of the call that a signal has interrupted (free_lists.bpf.h), or will not be. */
static __always_inline void end_interruption(struct hawk_thread *thread)
{
	if (thread->is_interrupted && is_followed(thread))
		__sync_fetch_and_add(&target_of(thread)->interrupted_calls, -1);
	thread->is_interrupted = 0;
	thread->list_at = 0;
}

/* As in the state of a thread that has made no call yet. */
static __always_inline void reset_thread(struct hawk_thread *thread)
{
	end_interruption(thread);
	thread->call.sp = 0;
	thread->call.rare = 0;
	thread->call.inner_address = 0;
	thread->interrupted_count = 0;
	thread->left_slot = 0;
	thread->last_freed = 0;
	thread->last_allocated = 0;
	thread->run_of_allocations = 0;
	thread->run_of_frees = 0;
}

/* The current thread, which is no longer followed as what it was: as one of another target, of which its process has become one;
 * NULL: it has not. Not static: checked once by the verifier. */
__noinline int follow_again(struct hawk_thread *thread)
{
	struct hawk_target *target = target_on_memory_of(bpf_get_current_task_btf());

	if (!thread || !target || !target->enabled)
		return 0;
	reset_thread(thread);
	begin_thread(thread, target->program);
	return 1;
}

/* What comes of a hit. */
enum hawk_outcome {
	HAWK_NOTHING_WANTED,
	HAWK_RETURN_WANTED,       /* of the call that has begun */
	HAWK_STATE_WANTED,        /* nothing has been done: the thread has no state, and is to be given one first */
};

/* Whether the current thread, whose state this is, is followed, perhaps as one of another target than so far. */
static __always_inline bool is_still_followed(struct hawk_thread *thread)
{
	return is_followed(thread) || follow_again(thread);
}

/* The state of the current thread, which has that of `known`, or none so far; NULL: it is not followed. */
static __always_inline struct hawk_thread *followed_thread(struct hawk_thread *known, struct pt_regs *ctx)
{
	if (!known)
		return new_thread(ctx);
	return is_still_followed(known) ? known : NULL;
}

/* The task, which may share a target's memory without being one of its threads, is about to leave that memory. The kernel's
 * filter for multi links goes by thread group (since 6.12): then no program has run for it. But any breakpoint that it met has
 * left it a struct uprobe_task. */
static __always_inline void check_sharer(struct task_struct *task)
{
	__u64 key = thread_key((const void *)bpf_task_pt_regs(task));

	if (settings.probes_go_by_memory)
		return;
	struct hawk_target *target = target_on_memory_of(task);

	if (!target || (__u32)BPF_CORE_READ(task, tgid) == target->group || !BPF_CORE_READ(task, utask))
		return;
	if (search_slot(key, key) || bpf_task_storage_get(&threads, task, NULL, 0))
		return;
	count_loss(target->program, HAWK_LOSS_UNSEEN_SHARER);
}

/* The current thread has ended: its slot, if it has one, is free. What is in it must be as in a new one. */
static __always_inline void release_slot(__u64 owner)
{
	struct hawk_thread *thread = search_slot(owner, owner);

	if (!thread)
		return;
	reset_thread(thread);
	thread->owner = 0;
}

#endif
