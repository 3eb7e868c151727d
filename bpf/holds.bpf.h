/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A thread that maps code of a file of which it is not known that it needs no probes, or that its process has them, is held until
 * user space has seen to that: on its way back to user mode, so that no instruction of that file has run. It waits in the kernel, in
 * callbacks that run there (task work). A stop by SIGSTOP would be seen by the parent (a shell takes a job of its own for
 * stopped), could be undone by any SIGCONT, could not be distinguished from another process's stop, and would outlast a hawktrace that is
 * killed. Here nothing is to be undone: a wait ends by itself, with hawktrace, or after HAWK_LONGEST_HOLD_NS.
 *
 * A callback cannot sleep on anything that user space could wake it up from: it looks again and again, and the kernel lets others
 * run in between. What it must not do is to keep a lock meanwhile that attaching needs (bpf_copy_from_user_task, which lets others
 * run as well, does so under the lock of the mappings: 15 ms for each probe on a busy machine).
 *
 * Needs bpf_task_work_schedule_resume (Linux 6.18, where its name ends in _impl). */
#ifndef HAWKTRACE_HOLDS_BPF_H
#define HAWKTRACE_HOLDS_BPF_H

#include <bpf/bpf_core_read.h>

#include "bpf/holds.h"
#include "bpf/maps.bpf.h"

/* Written by user space. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct hawk_file_key);
	__type(value, __u32);
	__uint(max_entries, HAWK_MAX_STUDIED_FILES);
} studied_files SEC(".maps");

struct hawk_hold_key {
	__u32 thread;             /* as the kernel numbers it */
	__u32 turn;
};

/* A callback that a thread will be held in. It cannot be ordered again while it runs, hence two, which take turns. */
struct hawk_hold {
	struct bpf_task_work work;
	__u64 began_ns;
	__u32 target;             /* where that is in targets */
	__u32 what_for;           /* HAWK_FOR_PROBES, HAWK_FOR_SPARES */
};
#define HAWK_FOR_PROBES 0
#define HAWK_FOR_SPARES 1

/* Written by programs only. Full: the thread is not held. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, struct hawk_hold_key);
	__type(value, struct hawk_hold);
	__uint(max_entries, 2 * HAWK_MAX_HELD);
} held_threads SEC(".maps");

#define HAWK_PF_EXITING 0x4u
/* Priorities below are real-time ones: such a thread would keep its processor from user space. */
#define HAWK_MAX_RT_PRIO 100
#define HAWK_SIGKILL_BIT (1ull << 8)

static __always_inline struct hawk_file_key key_of_file(struct file *file)
{
	struct inode *inode = BPF_CORE_READ(file, f_inode);
	struct hawk_file_key key = {};

	key.inode = BPF_CORE_READ(inode, i_ino);
	key.changed_s = BPF_CORE_READ(inode, i_ctime_sec);
	key.changed_ns = BPF_CORE_READ(inode, i_ctime_nsec);
	key.device = BPF_CORE_READ(inode, i_sb, s_dev);
	key.generation = BPF_CORE_READ(inode, i_generation);
	return key;
}

/* Whether the target lacks, for all that is known, probes that it may need in the file. */
static __always_inline bool may_need_probes(const struct hawk_target *target, const struct hawk_file_key *file)
{
	__u32 *known = bpf_map_lookup_elem(&studied_files, file);

	if (!known)
		return true;
	if (*known == HAWK_FILE_WITHOUT_PROBES)
		return false;
	return *known >= HAWK_FILE_BITS || !(target->probed_files_mask >> (*known & (HAWK_FILE_BITS - 1)) & 1);
}

/* Whether what the thread waits for will not be done any more. */
static __always_inline bool is_in_vain(const struct hawk_target *target)
{
	return !*(volatile __u32 *)&state.enabled || !*(volatile __u32 *)&target->enabled || *(volatile __u32 *)&state.owner_is_gone ||
	       *(volatile __u32 *)&state.holds_suspended;
}

static __always_inline bool is_ending(struct task_struct *task)
{
	return (BPF_CORE_READ(task, flags) & HAWK_PF_EXITING) || (BPF_CORE_READ(task, pending.signal.sig[0]) & HAWK_SIGKILL_BIT);
}

static __always_inline void count_hold(struct hawk_target *target, __u64 took_ns)
{
	__sync_fetch_and_add(&target->holds, 1);
	__sync_fetch_and_add(&target->held_ns, took_ns);
	if (took_ns > target->longest_hold_ns)
		target->longest_hold_ns = took_ns;
}

static __always_inline bool are_spares_few(void)
{
	return (__s32)(*(volatile __u32 *)&state.spares_added - *(volatile __u32 *)&state.births) < (__s32)HAWK_FEW_SPARES &&
	       !*(volatile __u32 *)&state.all_places_used;
}

static int hold_thread(struct bpf_map *map, struct hawk_hold_key *key, struct hawk_hold *held);

/* 6.18 and 6.19 have this with _impl and an argument that is of no use; from 7.0 on a kernel's types have both, but what ends in _impl
 * is no function that there is. libbpf finds its argument to be of another type, and leaves it out. */
extern int bpf_task_work_schedule_resume(struct task_struct *task, struct bpf_task_work *work, void *map__map,
					 bpf_task_work_callback_t callback) __weak __ksym;

static __always_inline int schedule_callback(struct hawk_hold *held)
{
	struct task_struct *task = bpf_get_current_task_btf();
	bpf_task_work_callback_t callback = (bpf_task_work_callback_t)hold_thread;

	if (bpf_ksym_exists(bpf_task_work_schedule_resume))
		return bpf_task_work_schedule_resume(task, &held->work, &held_threads, callback);
	if (bpf_ksym_exists(bpf_task_work_schedule_resume_impl))
		return bpf_task_work_schedule_resume_impl(task, &held->work, &held_threads, callback, NULL);
	return -1;
}

static __always_inline bool schedule_hold(__u32 target, __u32 what_for, __u32 turn, __u64 began_ns)
{
	struct hawk_hold_key key = { .thread = BPF_CORE_READ(bpf_get_current_task_btf(), pid), .turn = turn };
	struct hawk_hold none = {}, *held;
	int error;

	bpf_map_update_elem(&held_threads, &key, &none, BPF_NOEXIST);
	held = bpf_map_lookup_elem(&held_threads, &key);
	if (!held)
		return false;
	held->target = target;
	held->what_for = what_for;
	held->began_ns = began_ns;
	error = schedule_callback(held);
	/* It has mapped another file before it came back to user mode. */
	return !error || error == -HAWK_EBUSY;
}

/* Called by the kernel in the thread that is to be held, which lets others run between two such calls. It has no function called, as
 * by bpf_loop: the verifier would take for an endless loop that the callback orders itself. */
static int hold_thread(struct bpf_map *map, struct hawk_hold_key *key, struct hawk_hold *held)
{
	struct hawk_hold_key own = *key, other = { .thread = own.thread, .turn = !own.turn };
	__u64 took_ns = bpf_ktime_get_ns() - held->began_ns;
	struct hawk_target *target = target_at(held->target);
	__u32 wanted = *(volatile __u32 *)&target->holds_wanted;

	if (held->what_for == HAWK_FOR_SPARES ? are_spares_few()
					      : (__s32)(*(volatile __u32 *)&target->holds_released - wanted) < 0) {
		bool ends = is_ending(bpf_get_current_task_btf());

		if (took_ns >= HAWK_LONGEST_HOLD_NS)
			state.holds_suspended = 1;
		else if (!ends && !is_in_vain(target) && schedule_hold(held->target, held->what_for, other.turn, held->began_ns))
			return 0;
		/* What user space does from now on comes too late: it looks here after that. Not for a thread that does not go on. */
		if (held->what_for == HAWK_FOR_PROBES && !ends)
			__sync_lock_test_and_set(&target->holds_missed, wanted);
	}
	count_hold(target, took_ns);
	bpf_map_delete_elem(&held_threads, &other);
	bpf_map_delete_elem(&held_threads, &own);
	return 0;
}

static __always_inline bool is_real_time(void)
{
	return BPF_CORE_READ(bpf_get_current_task_btf(), prio) < HAWK_MAX_RT_PRIO;
}

/* Holds the current thread, of this target. After user space has been asked for what is to be done. */
static __noinline void hold(struct hawk_target *target)
{
	__u32 wanted = __sync_fetch_and_add(&target->holds_wanted, 1) + 1;

	if (state.holds_suspended || is_real_time() ||
	    !schedule_hold(target->program & HAWK_TARGET_MASK, HAWK_FOR_PROBES, 0, bpf_ktime_get_ns()))
		target->holds_missed = wanted;
}

/* Holds the current thread, of this target, which has made a process, so that there are places for the next ones. */
static __noinline int hold_for_spares(struct hawk_target *target)
{
	if (!state.holds_suspended && !is_real_time())
		schedule_hold(target->program & HAWK_TARGET_MASK, HAWK_FOR_SPARES, 0, bpf_ktime_get_ns());
	return 0;
}

#endif
