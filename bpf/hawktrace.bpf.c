// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The list of hooks. User space decides which of them are loaded, as which kind of uprobe, and where they sit:
//
//   session   alloc_session on every allocating function that cannot throw
//   multi     alloc_entry and alloc_return on those
//   perf      the same, one perf event each
//   points    alloc_yield inside the allocating functions that have a plan, and on the entries of those whose plan needs it;
//             the other functions as above
//   always    free_entry; unfollowed_entry; module_init; the tracepoints of fork, exec and exit
//
// and with --mappings region_entered and regions_unlocked (regions.bpf.h).
//
// Where threads are held (holds.bpf.h) process_fork_holding is loaded in place of process_fork, and so are others.
//
// and of the mappings (mapping_events.bpf.h) mapping_made, or tree_entry and mappings_unlocked; of their end memory_left by
// exit and by exec, without which the tracepoints of both look at what is still there.
//
// A function that may throw must not have its return address replaced, which no unwinder could pass. It has alloc_entry in every
// way, and its returns are probed at their ret instructions or shortly before, by alloc_return. Never a session: where
// another process is traced as well, the kernel asks a session for each of them, and takes the answer of its pid filter
// for a request for the return.
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/calls.bpf.h"
#include "bpf/children.bpf.h"
#include "bpf/hits.bpf.h"
#include "bpf/mapping_events.bpf.h"
#include "bpf/probe_points.bpf.h"
#include "bpf/regions.bpf.h"
#include "bpf/target_programs.bpf.h"
#include "bpf/threads_stack.bpf.h"
#include "bpf/unfollowed.bpf.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

// 6.13 to 6.x take no argument, 7.0 on take the context (kernel commit 8fe4dc4f6456). vmlinux.h declares the former.
extern bool bpf_session_is_return___ctx(void *ctx) __weak __ksym;

static __always_inline bool asked_session_is_return(struct pt_regs *ctx)
{
	if (bpf_ksym_exists(bpf_session_is_return___ctx))
		return bpf_session_is_return___ctx(ctx);
	return bpf_session_is_return();
}

// To ask costs a call. A return of the open call to code that is in no allocator shows itself: rsp is right behind its slot,
// and entries are in allocators.
static __always_inline bool session_is_return(const struct hawk_thread *thread, struct pt_regs *ctx)
{
	if (thread && thread->call.sp == ctx->sp - 8 && target_of(thread)->files.allocators_low &&
	    (ctx->ip < target_of(thread)->files.allocators_low || ctx->ip >= target_of(thread)->files.allocators_high))
		return true;
	return asked_session_is_return(ctx);
}

// 1: leave the return half out.
SEC("uprobe")
int alloc_session(struct pt_regs *ctx)
{
	stay_on_threads_stack();

	struct hawk_thread *thread = known_thread(ctx);

	if (session_is_return(thread, ctx)) {
		on_return_probe(thread, ctx, HAWK_SEEN_IN_SESSION);
		return 1;
	}
	note_seen(thread, 0);
	return SEE_HIT(see_entry, thread, ctx, bpf_get_attach_cookie(ctx), true) == HAWK_RETURN_WANTED ? 0 : 1;
}

SEC("uprobe")
int alloc_entry(struct pt_regs *ctx)
{
	stay_on_threads_stack();

	struct hawk_thread *thread = known_thread(ctx);

	note_seen(thread, 0);
	SEE_HIT(see_entry, thread, ctx, probe_cookie(ctx), false);
	return 0;
}

SEC("uprobe")
int alloc_return(struct pt_regs *ctx)
{
	stay_on_threads_stack();

	struct hawk_thread *thread = known_thread(ctx);
	__u64 cookie = probe_cookie(ctx);

	if (cookie & HAWK_COOKIE_AT_RET)
		on_return_point(thread, ctx, cookie);
	else
		on_return_probe(thread, ctx, HAWK_SEEN_AT_PROBE);
	return 0;
}

SEC("uprobe")
int alloc_yield(struct pt_regs *ctx)
{
	stay_on_threads_stack();

	struct hawk_thread *thread = known_thread(ctx);
	__u64 cookie = probe_cookie(ctx);

	note_seen(thread, cookie);
	SEE_HIT(see_yield, thread, ctx, cookie);
	return 0;
}

SEC("uprobe")
int free_entry(struct pt_regs *ctx)
{
	stay_on_threads_stack();

	struct hawk_thread *thread = known_thread(ctx);

	note_seen(thread, 0);
	SEE_HIT(see_free, thread, ctx);
	return 0;
}

SEC("uprobe")
int unfollowed_entry(struct pt_regs *ctx)
{
	stay_on_threads_stack();
	on_unfollowed(ctx);
	return 0;
}

// Finds out, in user space's own process, where the kernel has all memory mapped.
SEC("syscall")
int find_direct_map(struct hawk_direct_map_check *check)
{
	struct hawk_direct_map_check found = *check;
	struct hawk_search search = { .check = &found, .tables = current_page_tables() };

	found.direct_map = 0;
	bpf_loop(HAWK_DIRECT_MAP_STEPS, try_direct_map, &search, 0);
	check->direct_map = found.direct_map;
	return 0;
}

// Runs for each thread of a target when user space says so.
SEC("iter/task")
int find_interceptors(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (task)
		state.interceptors |= interceptors_of(task);
	return 0;
}

// What user space has done to the arena, through bpf_prog_test_run. Pages are made and freed here, and not by faulting
// them in, because a fault for which there is no memory would kill hawktrace.
SEC("syscall")
int arena_make_pages(struct hawk_page_range *range)
{
	return bpf_arena_alloc_pages(&arena, (void *)range->address, range->count, -1 /* NUMA_NO_NODE */, 0) ? 0 : 1;
}

SEC("syscall")
int arena_free_pages(struct hawk_page_range *range)
{
	bpf_arena_free_pages(&arena, (void *)range->address, range->count);
	return 0;
}

SEC("syscall")
int arena_shrink(void *nothing)
{
	return hawk_resize(0);
}

SEC("syscall")
int arena_sweep(void *nothing)
{
	hawk_sweep_all();
	return 0;
}

// On code that the dynamic linker runs once when it loads a file with an operator new that keeps no frame pointer: shows where the file lies.
SEC("uprobe")
int module_init(struct pt_regs *ctx)
{
	stay_on_threads_stack();

	struct hawk_target *target = target_on_memory_of(bpf_get_current_task_btf());
	__u64 number = bpf_get_attach_cookie(ctx);

	for (__u32 i = 0; target && i < HAWK_MAX_OPERATOR_FILES; i++) {
		if (i < target->files.operator_file_count && target->files.operator_files[i].number == number)
			target->files.operator_files[i].base = ctx->ip - target->files.operator_files[i].init_vaddr;
	}
	return 0;
}

// Whether another target has the memory of `task`: it was made by one since user space has found it.
static __always_inline bool is_taken(const struct task_struct *task, __u32 searched)
{
	const struct hawk_target *known = target_on_memory_of(task);

	return known && known->enabled && index_of(known) != searched;
}

// Finds a target, whose number user space gives to the iterator: its memory and its thread group. User space is the current task.
SEC("iter/task")
int find_target(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (task && !is_taken(task, state.searched_target))
		note_target(task, state.searched_target);
	state.pid_level = BPF_CORE_READ(bpf_get_current_task_btf(), thread_pid, level);
	state.owner = bpf_get_current_pid_tgid() >> 32;
	return 0;
}

// At the end of a target's trace: processes that share its memory and are still there.
SEC("iter/task")
int check_sharers(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct hawk_target *target = task ? target_on_memory_of(task) : NULL;

	if (target && index_of(target) == state.searched_target)
		check_sharer(task);
	return 0;
}

// Since 6.11. Later the task has other memory already.
SEC("tp_btf/sched_prepare_exec")
int BPF_PROG(prepare_exec, struct task_struct *task)
{
	check_sharer(bpf_get_current_task_btf());
	note_events();
	look_a_last_time(false);
	return 0;
}

// Called by a thread that leaves its memory because it ends, and because it replaces its program.
SEC("fentry/exit_mm_release")
int BPF_PROG(memory_left_by_exit)
{
	if (is_last_thread())
		look_a_last_time(true);
	return 0;
}

SEC("fentry/exec_mm_release")
int BPF_PROG(memory_left_by_exec)
{
	look_a_last_time(false);
	return 0;
}

SEC("tp_btf/signal_deliver")
int BPF_PROG(signal_delivered, int signal, struct kernel_siginfo *info, struct k_sigaction *action)
{
	/* 0: what it does to a process by itself; 1: nothing (include/uapi/asm-generic/signal-defs.h). */
	if ((__u64)BPF_CORE_READ(action, sa.sa_handler) > 1)
		on_handler(thread_with_key(current_key()));
	return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(process_fork, struct task_struct *parent, struct task_struct *child)
{
	return on_process_fork(child, false);
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(process_fork_holding, struct task_struct *parent, struct task_struct *child)
{
	return on_process_fork(child, true);
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(process_exec)
{
	return on_process_exec(false);
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(process_exec_holding)
{
	return on_process_exec(true);
}

SEC("fentry/perf_event_mmap")
int BPF_PROG(mapping_made, struct vm_area_struct *vma)
{
	struct hawk_target *target = mapping_target();

	if (target)
		take_mapping(target, vma, false);
	return 0;
}

SEC("fentry/perf_event_mmap")
int BPF_PROG(mapping_made_holding, struct vm_area_struct *vma)
{
	struct hawk_target *target = mapping_target();

	if (target)
		take_mapping(target, vma, true);
	return 0;
}

SEC("tp_btf/ma_write")
int BPF_PROG(tree_entry, const char *function, struct ma_state *mas, unsigned long pivot, void *entry)
{
	on_tree_entry(mas, (__u64)entry, false);
	return 0;
}

SEC("tp_btf/ma_write")
int BPF_PROG(tree_entry_holding, const char *function, struct ma_state *mas, unsigned long pivot, void *entry)
{
	on_tree_entry(mas, (__u64)entry, true);
	return 0;
}

SEC("tp_btf/mmap_lock_released")
int BPF_PROG(mappings_unlocked, struct mm_struct *mm)
{
	on_mappings_unlocked(mm);
	return 0;
}

SEC("tp_btf/ma_write")
int BPF_PROG(region_entered, const char *function, struct ma_state *mas, unsigned long pivot, void *entry)
{
	on_region_entered(mas, (__u64)entry);
	return 0;
}

SEC("tp_btf/mmap_lock_released")
int BPF_PROG(regions_unlocked, struct mm_struct *mm)
{
	on_regions_unlocked(mm);
	return 0;
}

// A thread that ends inside an allocator call. When the whole process ends, or replaces its program, that is no loss: the
// program was never given what the call would have returned.
SEC("tp_btf/sched_process_exit")
int BPF_PROG(thread_exit, struct task_struct *task)
{
	__u64 key = current_key();
	struct hawk_thread *thread = thread_with_key(key);
	bool is_own = target_of_current_group() != NULL;

	if (settings.holds && bpf_get_current_pid_tgid() >> 32 == state.owner && is_last_thread())
		state.owner_is_gone = 1;
	if (!is_own)
		check_sharer(bpf_get_current_task_btf());
	if (!is_own && !thread)
		return 0;
	const __u32 group_exit = 0x4; // SIGNAL_GROUP_EXIT, include/linux/sched/signal.h

	bool all_end = is_own && ((BPF_CORE_READ(task, signal, flags) & group_exit) || BPF_CORE_READ(task, signal, group_exec_task));

	// From 6.16 on it still has its memory here.
	if (is_own && is_last_thread()) {
		look_a_last_time(true);
		note_where_it_ended();
		end_group();
	}
	if (thread) {
		note_end(thread);
		close_calls(thread, !all_end);
	}
	release_slot(key);
	return 0;
}
