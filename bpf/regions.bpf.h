/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Announces to user space which regions of its address space a target maps and unmaps, by which stack (--mappings). All of it is
 * seen while the kernel's lock over the mappings is held, so that the records come in the order of the changes, whichever threads
 * make them; and by tracepoints, which every kernel has:
 *
 *     ma_write              the tree of mappings enters one: it was made, has grown, or is a part of one that is split. Of the
 *                           range that it covers then some was mapped before; user space knows which. Where another mapping
 *                           lay (MAP_FIXED), the arguments of the system call say so
 *     mmap_lock_released    the lock is still held. What is unmapped is not always seen in the tree's own events, but it is a
 *                           gap there by now: where the arguments of the system call point to
 *
 * A change of the number of pages that nothing of this explains makes user space read the list of mappings. */
#ifndef HAWKTRACE_REGIONS_BPF_H
#define HAWKTRACE_REGIONS_BPF_H

#include "bpf/arch/x86_64/system_calls.h"
#include "bpf/mappings.bpf.h"
#include "bpf/region_owner.bpf.h"
#include "bpf/regions.h"
#include "bpf/threads.bpf.h"

/* Full: REGION_EVENT. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, HAWK_REGION_RING_BYTES);
} region_events SEC(".maps");

/* User space is woken only when it has much to read: a reader of the numbers reads what is there first. */
static __always_inline __u64 region_wakeup(void)
{
	return bpf_ringbuf_query(&region_events, BPF_RB_AVAIL_DATA) < settings.region_wakeup_bytes ? BPF_RB_NO_WAKEUP :
											       BPF_RB_FORCE_WAKEUP;
}

static __always_inline void announce_region(const struct hawk_region_event *event)
{
	if (bpf_ringbuf_output(&region_events, (void *)event, sizeof(*event), region_wakeup()))
		count_loss(event->program, HAWK_LOSS_REGION_EVENT);
}

/* What was changed is not known. */
static __noinline void announce_unknown(const struct hawk_target *target, __u64 memory)
{
	struct hawk_region_event event = { .memory = memory, .program = target->program, .change = HAWK_REGIONS_UNKNOWN };

	announce_region(&event);
}

/* The target whose regions the current task changes; NULL: none's. Other programs' come by here as well; and a target's own, that it
 * is about to run: what is mapped of that is announced when it begins. */
static __always_inline struct hawk_target *region_target(void)
{
	struct hawk_target *target = target_on_memory_of(bpf_get_current_task_btf());

	return target && state.enabled && target->enabled ? target : NULL;
}

/* shmdt looks no further than a segment is long. */
static __always_inline void note_segment(struct hawk_target *target, struct vm_area_struct *vma)
{
	__u64 bytes = BPF_CORE_READ(vma, vm_file, f_inode, i_size);

	if (target->segment_bytes < bytes)
		target->segment_bytes = bytes;
}

/* The current task, a target's, has mapped a range that is a part of `vma`, or all of it. */
static __always_inline void on_region_mapped(struct hawk_target *target, struct vm_area_struct *vma, __u64 start, __u64 end)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct pt_regs *registers = (struct pt_regs *)bpf_task_pt_regs(task);
	struct hawk_region_event event = {
		.memory = memory_key(task),
		.start = start,
		.end = end,
		.program = target->program,
		.change = HAWK_REGION_MAPPED,
		.kind = kind_of_region(vma, registers),
	};
	struct hawk_thread *thread = NULL;

	if (event.kind == HAWK_REGION_SHM)
		note_segment(target, vma);
	if ((BPF_CORE_READ(vma, vm_flags) & HAWK_VM_GROWSDOWN) && BPF_CORE_READ(registers, orig_ax) != HAWK_SYSCALL_MMAP)
		event.change = HAWK_REGION_GREW;
	if (event.kind == HAWK_REGION_KERNEL)
		event.origin = HAWK_REGION_OLDER;
	else if (event.change == HAWK_REGION_MAPPED)
		thread = followed_thread(thread_with_key(current_key()), registers);
	if (thread)
		find_owner(thread, registers, &event);
	announce_region(&event);
}

static __always_inline const struct pt_regs *system_call(void)
{
	return (const struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
}

static __always_inline __u64 page_end(__u64 address)
{
	return (address + (1ull << HAWK_PAGE_SHIFT) - 1) >> HAWK_PAGE_SHIFT << HAWK_PAGE_SHIFT;
}

/* The range that a system call maps whatever lies there; false: it leaves that to the kernel, or maps nothing. */
static __always_inline bool replaced_range(const struct pt_regs *registers, const struct hawk_range *stored, struct hawk_range *range)
{
	__u64 first = BPF_CORE_READ(registers, di), second = BPF_CORE_READ(registers, si), third = BPF_CORE_READ(registers, dx);

	switch (BPF_CORE_READ(registers, orig_ax)) {
	case HAWK_SYSCALL_MMAP:
		range->start = first;
		range->end = page_end(first + second);
		return BPF_CORE_READ(registers, r10) & HAWK_MAP_FIXED;
	case HAWK_SYSCALL_REMAP_FILE_PAGES:
		range->start = first;
		range->end = page_end(first + second);
		return true;
	case HAWK_SYSCALL_SHMAT:
		/* What lies on both sides may be entered too, where it has been one. */
		*range = *stored;
		return (third & HAWK_SHM_REMAP) && stored->start == second >> HAWK_PAGE_SHIFT << HAWK_PAGE_SHIFT;
	default:
		return false;
	}
}

static __always_inline void announce_unmapped(struct hawk_target *target, __u64 memory, const struct hawk_range *range)
{
	struct hawk_region_event event = {
		.memory = memory,
		.start = range->start,
		.end = range->end,
		.program = target->program,
		.change = HAWK_REGION_UNMAPPED,
	};

	announce_region(&event);
	target->regions_announced = 1;
}

/* Mappings and gaps between them that are looked at in a range: more than there are in a process (vm.max_map_count), unless that
 * limit was raised a lot. */
#define HAWK_REGION_STEPS (1u << 18)

/* A look through what is mapped in a range, and what is not. */
struct hawk_region_search {
	struct hawk_target *target;
	__u64 memory;             /* key of the memory that it is of */
	__u64 root;               /* of its tree of mappings */
	__u64 address, end;
	bool is_done;
};

static __always_inline struct hawk_range search_next(struct hawk_region_search *search, struct hawk_tree_slot *slot)
{
	slot->address = search->address;
	slot->entry = search->root;
	slot->last = ~0ull;
	bpf_loop(HAWK_TREE_STEPS, step_in_tree, slot, 0);
	search->address = slot->last + 1;
	search->is_done = slot->last == ~0ull || search->address >= search->end;
	return (struct hawk_range){ .start = slot->first, .end = slot->last == ~0ull ? slot->last : slot->last + 1 };
}

static long announce_gap(__u32 number, struct hawk_region_search *search)
{
	struct hawk_tree_slot slot = {};
	struct hawk_range range = search_next(search, &slot);

	if (!slot.entry)
		announce_unmapped(search->target, search->memory, &range);
	return search->is_done;
}

/* The memory does not change meanwhile. */
static __always_inline void search_gaps(struct hawk_region_search *search)
{
	/* A tree of one entry has no node. */
	if ((search->root & 3) == 2)
		bpf_loop(HAWK_REGION_STEPS, announce_gap, search, 0);
	if (!search->is_done)
		announce_unknown(search->target, search->memory);
}

/* In the current task's memory. The lock is held. Not static: checked once by the verifier. */
__noinline int announce_gaps(struct hawk_target *target, __u64 start, __u64 end)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct hawk_region_search search = { .target = target, .memory = memory_key(task), .address = start, .end = end };

	if (!target)
		return 0;
	search.root = (__u64)BPF_CORE_READ(task, mm, mm_mt.ma_root);
	search_gaps(&search);
	return 0;
}

/* What is entered then is a part of what there was. */
static __always_inline bool splits_only(__u64 call)
{
	return call == HAWK_SYSCALL_MPROTECT || call == HAWK_SYSCALL_MUNMAP || call == HAWK_SYSCALL_MADVISE ||
	       call == HAWK_SYSCALL_PKEY_MPROTECT;
}

/* The tree of mappings enters `entry`, of the current process, or of another that it makes by fork; 0: nothing is mapped there any
 * more, which is not always said, and asked for when the lock is released. */
static __always_inline void on_region_entered(const struct ma_state *mas, __u64 entry)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	const struct pt_regs *registers = system_call();

	if (!entry || !mm || BPF_CORE_READ(mas, tree) != &mm->mm_mt || (entry & 3) ||
	    splits_only(BPF_CORE_READ(registers, orig_ax)))
		return;
	struct hawk_target *target = region_target();
	struct hawk_range stored = { .start = BPF_CORE_READ(mas, index), .end = BPF_CORE_READ(mas, last) + 1 }, replaced = {};

	/* The tree may say so more than once. */
	if (!target || (target->region_stored.start == stored.start && target->region_stored.end == stored.end))
		return;
	target->region_stored = stored;
	if (!target->region_replaced && replaced_range(registers, &stored, &replaced) && stored.start <= replaced.start &&
	    replaced.end <= stored.end) {
		target->region_replaced = 1;
		announce_unmapped(target, memory_key(task), &replaced);
	} else if (BPF_CORE_READ(registers, orig_ax) == HAWK_SYSCALL_MREMAP) {
		/* It has made room by now, and may make it for several mappings (since 6.17), of which each may become one with what
		 * lies beside it. */
		announce_gaps(target, stored.start, stored.end);
	}
	on_region_mapped(target, (void *)entry, stored.start, stored.end);
	target->regions_announced = 1;
}

static __always_inline void announce_unmapped_by_call(struct hawk_target *target, struct mm_struct *mm, const struct pt_regs *registers)
{
	__u64 first = BPF_CORE_READ(registers, di), bytes = BPF_CORE_READ(registers, si);

	switch (BPF_CORE_READ(registers, orig_ax)) {
	case HAWK_SYSCALL_MMAP:
		if (!(BPF_CORE_READ(registers, r10) & HAWK_MAP_FIXED))
			break;
		/* It may have failed when what was there had been unmapped. */
	case HAWK_SYSCALL_MUNMAP:
	case HAWK_SYSCALL_REMAP_FILE_PAGES:
		announce_gaps(target, first, first + bytes);
		break;
	case HAWK_SYSCALL_MREMAP:
		announce_gaps(target, first, first + bytes);
		break;
	case HAWK_SYSCALL_BRK:
		first = page_end(BPF_CORE_READ(mm, brk));
		announce_gaps(target, first, first + 1);
		break;
	case HAWK_SYSCALL_SHMDT:
		announce_gaps(target, first, target->segment_bytes < ~first ? first + target->segment_bytes : ~0ull);
		break;
	}
}

/* Calls that give up the right to change mappings before they release the lock. */
static __always_inline bool downgrades(__u64 call)
{
	return call == HAWK_SYSCALL_MUNMAP || call == HAWK_SYSCALL_BRK || call == HAWK_SYSCALL_MREMAP;
}

static __always_inline bool forks(__u64 call)
{
	return call == HAWK_SYSCALL_FORK || call == HAWK_SYSCALL_CLONE || call == HAWK_SYSCALL_CLONE3;
}

/* The last fork of a target's threads, of which each may fork at any time. Written under the lock over the mappings. */
static __always_inline void note_fork(struct hawk_target *target, __u64 pages)
{
	*(volatile __u64 *)&target->forked_by = 0;
	*(volatile __u64 *)&target->forked_pages = pages;
	*(volatile __u64 *)&target->forked_by = current_key();
}

static __always_inline bool knows_fork(const struct hawk_target *target, __u64 key)
{
	return HAWK_READ_ONCE(target->forked_by) == key;
}

/* The current thread, a target's, has copied the memory for a process that it makes. Which is announced later: others may have
 * changed what is mapped by then. */
static __noinline void announce_fork(struct hawk_target *target, __u64 memory, __u64 pages)
{
	struct hawk_region_event event = {
		.memory = memory,
		.start = current_key(),
		.program = target->program,
		.change = HAWK_MEMORY_FORKED,
		.lost = target->losses[HAWK_LOSS_REGION_EVENT],
	};

	note_fork(target, pages);
	announce_region(&event);
}

/* No change of this memory is under way. */
static __always_inline void begin_regions(struct hawk_target *target, __u64 memory, __u64 pages)
{
	target->region_stored.start = target->region_stored.end = 0;
	target->regions_announced = 0;
	target->region_replaced = 0;
	target->region_memory = memory;
	target->region_pages = pages;
}

static __always_inline bool is_foreign_call(const struct task_struct *task)
{
	return BPF_CORE_READ(task, thread_info.status) & HAWK_TS_COMPAT;
}

/* In the kernel's count of a lock's holders: it may change what the lock is for (kernel/locking/rwsem.c). */
#define HAWK_WRITER_HOLDS 1

/* The lock over the mappings of `mm` is about to be released. */
static __always_inline void on_regions_unlocked(struct mm_struct *mm)
{
	const struct pt_regs *registers = system_call();
	struct task_struct *task = bpf_get_current_task_btf();

	if (mm != BPF_CORE_READ(task, mm))
		return;
	bool is_foreign = is_foreign_call(task);
	bool may_have_changed = (BPF_CORE_READ(mm, mmap_lock.count.counter) & HAWK_WRITER_HOLDS) ||
				downgrades(BPF_CORE_READ(registers, orig_ax));

	if (!may_have_changed && !is_foreign)
		return;
	struct hawk_target *target = region_target();

	if (!target)
		return;
	__u64 pages = BPF_CORE_READ(mm, total_vm), memory = memory_key(task);

	if (!may_have_changed && pages == target->region_pages)
		return;
	if (is_foreign) {
		count_loss(target->program, HAWK_LOSS_REGION_EVENT);
		announce_unknown(target, memory);
	}
	struct hawk_range stored = target->region_stored;

	announce_unmapped_by_call(target, mm, registers);
	/* The kernel may have undone it. */
	if (stored.end) {
		announce_gaps(target, stored.start, stored.start + 1);
		announce_gaps(target, stored.end - 1, stored.end);
	}
	if (target->region_memory == memory && target->region_pages != pages && !target->regions_announced)
		announce_unknown(target, memory);
	if (settings.follows_children && forks(BPF_CORE_READ(registers, orig_ax)))
		announce_fork(target, memory, pages);
	begin_regions(target, memory, pages);
}

#endif
