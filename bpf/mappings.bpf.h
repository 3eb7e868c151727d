/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What the kernel has mapped where, and when that has changed (mm->mm_lock_seq, since 6.4): what code_ranges.h asks. */
#ifndef HAWKTRACE_MAPPINGS_BPF_H
#define HAWKTRACE_MAPPINGS_BPF_H

#include <bpf/bpf_core_read.h>

#include "bpf/arch/x86_64/direct_memory.bpf.h"
#include "bpf/loops.bpf.h"
#include "bpf/maps.bpf.h"

static __always_inline __u64 hawk_mappings_version(const struct hawk_thread *thread);
int hawk_range_holds(__u32 index);
int hawk_search_rows(const struct hawk_code_range *range, __u64 address);
static __always_inline int hawk_search_elsewhere(__u64 address, __u32 generation);

#define HAWK_GLOBAL __noinline
#include "bpf/unwind/code_ranges.h"

/* How often the kernel is asked while another thread is changing mappings, which it does in some microseconds. */
#define HAWK_MAPPING_ATTEMPTS 64

/* Up to 6.12 it is a plain number. */
struct mm_struct___plain_sequence {
	int mm_lock_seq;
} __attribute__((preserve_access_index));

/* Where the kernel counts the changes of the current process's mappings; 0: this kernel does not. */
static __always_inline __u64 find_mappings_version(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 mm = 0;

	/* Copied, so that it is a number to the verifier and not a pointer. */
	bpf_probe_read_kernel(&mm, sizeof(mm), &task->mm);
	if (!mm)
		return 0;
	if (bpf_core_field_exists(struct mm_struct, mm_lock_seq))
		return mm + bpf_core_field_offset(struct mm_struct, mm_lock_seq);
	if (bpf_core_field_exists(struct mm_struct___plain_sequence, mm_lock_seq))
		return mm + bpf_core_field_offset(struct mm_struct___plain_sequence, mm_lock_seq);
	return 0;
}

/* On kernels before 6.4: what changes whenever code that has run is unmapped. Its pages are there, and to take them away the
 * kernel flushes the TLB, which it counts; but not of pages that it had swapped out before. */
static __noinline __u32 substitute_version(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct mm_struct *mm = BPF_CORE_READ(task, mm);

	if (!mm)
		return 0;
	return BPF_CORE_READ(mm, exec_vm) << 20 ^ (__u32)BPF_CORE_READ(mm, map_count) << 10 ^
	       BPF_CORE_READ(mm, context.tlb_gen.counter);
}

static __always_inline __u64 hawk_mappings_version(const struct hawk_thread *thread)
{
	__u32 version = 0;

	if (!thread->mappings_version_at)
		version = substitute_version();
	else if (settings.may_read_directly && state.direct_map)
		version = kernel_word(thread->mappings_version_at);
	else
		bpf_probe_read_kernel(&version, sizeof(version), (void *)thread->mappings_version_at);
	return hawk_version_of(target_of(thread), version);
}

/* Since 6.8 /proc/PID/maps shows the file of an overlay file system (file_user_inode, include/linux/fs.h), which the kernel
 * keeps beside the file that it really maps: its path follows. On 6.5 to 6.7 the type has another field. */
struct backing_file___hawk {
	struct file file;
	struct path user_path;
} __attribute__((preserve_access_index));

/* The inode of that file; NULL: the file that is mapped is the one that was opened. In f_mode a bit says so, but which one
 * changes from release to release and is not in the kernel's type information. So what follows the file is looked at in any
 * case, and taken for a path if it is one throughout: of its mount, its directory entry and its inode each names the same file
 * system. Behind a plain file lies the beginning of another, or unrelated memory, through which three chains of pointers do not
 * meet by chance. */
static __always_inline struct inode *user_inode_of(struct file *file)
{
	struct backing_file___hawk *backing = (void *)file;

	if (!bpf_core_field_exists(backing->user_path))
		return NULL;
	struct dentry *entry = BPF_CORE_READ(backing, user_path.dentry);
	struct super_block *system = BPF_CORE_READ(backing, user_path.mnt, mnt_sb);
	struct inode *inode = BPF_CORE_READ(entry, d_inode);

	if (!system || BPF_CORE_READ(entry, d_sb) != system || BPF_CORE_READ(inode, i_sb) != system)
		return NULL;
	return inode;
}

static __always_inline struct inode *inode_of(struct file *file)
{
	struct inode *inode = user_inode_of(file);

	return inode ? inode : BPF_CORE_READ(file, f_inode);
}

static __always_inline bool is_inode_of(struct inode *inode, const struct hawk_code_range *range)
{
	return BPF_CORE_READ(inode, i_ino) == range->inode && BPF_CORE_READ(inode, i_sb, s_dev) == range->device;
}

/* What a mapping of the kernel's says. */
struct hawk_mapping {
	__u64 start, end, file_offset;
	__u64 file;               /* the kernel's; 0: none */
};

static __always_inline struct hawk_mapping mapping_at(struct vm_area_struct *vma)
{
	return (struct hawk_mapping){ .start = BPF_CORE_READ(vma, vm_start),
				      .end = BPF_CORE_READ(vma, vm_end),
				      .file_offset = BPF_CORE_READ(vma, vm_pgoff) << HAWK_PAGE_SHIFT,
				      .file = (__u64)BPF_CORE_READ(vma, vm_file) };
}

/* Whether that is what the range says. Either inode is the file's: perf events named the one that is really mapped until that was
 * mended (6.18, and 6.12 after 6.12.43). */
static __always_inline int says_mapping(const struct hawk_mapping *mapping, __u32 index)
{
	const struct hawk_code_range *range = &code_ranges[index & (2 * HAWK_MAX_CODE_RANGES - 1)];
	struct file *file;
	struct inode *inode;

	if (mapping->start > range->start || mapping->end < range->end)
		return 0;
	if (!mapping->file)
		return !range->inode;
	if (mapping->file_offset + (range->start - mapping->start) != range->file_offset)
		return 0;
	file = (void *)mapping->file;
	if (is_inode_of(BPF_CORE_READ(file, f_inode), range))
		return 1;
	inode = user_inode_of(file);
	return inode && is_inode_of(inode, range);
}

/* The same. Not static: checked once by the verifier. */
__noinline int is_mapping_of(const struct hawk_mapping *mapping, __u32 index)
{
	return mapping && says_mapping(mapping, index);
}

/* Remembers where the kernel has the mapping, if that is what the range says. */
static __always_inline int note_mapping(__u32 index, __u64 vma, int holds)
{
	hawk_range_state_at(index)->vma = holds ? vma : 0;
	return holds;
}

/* In place of where the kernel has a mapping: its lock was not to be had. */
#define HAWK_MAPPINGS_BUSY 1

/* What the kernel has mapped at an address. */
struct hawk_mapping_search {
	__u64 vma;                /* 0: nothing */
	struct hawk_mapping mapping; /* begins at the address, until it is found */
};

/* With the kernel's lock, so that all is of one moment. What is behind it is looked at later: calls may be only so deep, and if its
 * file is gone by then, the mapping is. */
static long copy_mapping(struct task_struct *task, struct vm_area_struct *vma, struct hawk_mapping_search *search)
{
	search->vma = (__u64)vma;
	search->mapping = mapping_at(vma);
	return 0;
}

/* After an attempt to find one, of which this came: 0: there is to be another. `found` says if there was none that had the lock. */
static __always_inline long end_attempt(long error, __u32 attempt, __u64 *found)
{
	if (error != -HAWK_EBUSY)
		return 1;
	if (attempt == HAWK_MAPPING_ATTEMPTS - 1)
		*found = HAWK_MAPPINGS_BUSY;
	return 0;
}

static long find_mapping(__u32 attempt, struct hawk_mapping_search *search)
{
	long error = bpf_find_vma(bpf_get_current_task_btf(), search->mapping.start, copy_mapping, search, 0);

	return end_attempt(error, attempt, &search->vma);
}

/* Up to 6.14. */
struct vm_area_struct___detached {
	bool detached;
} __attribute__((preserve_access_index));

/* Whether the mapping at this address, seen before, is still one of the current process. Since 6.4 the kernel marks mappings
 * that it takes out before it frees them, and only such a mark shows it: on older kernels false. */
static __always_inline bool is_attached(struct vm_area_struct *vma)
{
	struct vm_area_struct___detached *older = (void *)vma;

	if (BPF_CORE_READ(vma, vm_mm) != BPF_CORE_READ(bpf_get_current_task_btf(), mm))
		return false;
	if (bpf_core_field_exists(vma->vm_refcnt))
		return BPF_CORE_READ(vma, vm_refcnt.refs.counter) != 0;
	if (bpf_core_field_exists(older->detached))
		return !BPF_CORE_READ(older, detached);
	return false;
}

/* Whether there is still a mapping at `vma`, which is what the range says. Not static: checked once by the verifier. */
__noinline int attached_holds(__u64 vma, __u32 index)
{
	if (!vma || !is_attached((struct vm_area_struct *)vma))
		return 0;
	const struct hawk_mapping mapping = mapping_at((struct vm_area_struct *)vma);

	/* Without a call, for whose stack there is no room. */
	return note_mapping(index, vma, says_mapping(&mapping, index));
}

/* Whether a range holds, by the mapping that was found for it before: without the lock that the kernel's own search takes,
 * which is not to be had while threads queue for it (a thousand threads whose heaps grow: nine of ten searches refused). What
 * is read may be freed meanwhile and become another mapping; then it differs, or it says the same, and that is true. */
static __always_inline bool remembered_holds(__u32 index)
{
	return attached_holds(hawk_range_state_at(index)->vma, index);
}

/* The holder of a lock of the kernel that changes something is known by its task, with flags in the lowest bits: one of them says that the
 * holders only look (kernel/locking/rwsem.c). */
#define HAWK_LOCK_FLAGS 7ull
#define HAWK_LOCK_OF_READERS 1ull

/* Whether the current task is changing its mappings: then no other task is, and a further request for the lock in its name fails. */
static __always_inline bool is_changing_mappings(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct mm_struct *mm = BPF_CORE_READ(task, mm);

	if (!bpf_core_field_exists(mm->mmap_lock.owner))
		return false;
	__u64 owner = BPF_CORE_READ(mm, mmap_lock.owner.counter);

	return (owner & ~HAWK_LOCK_FLAGS) == (__u64)task && !(owner & HAWK_LOCK_OF_READERS);
}

/* The lowest bit of the count of a lock: somebody who changes something has it (kernel/locking/rwsem.c). */
#define HAWK_LOCKED_BY_WRITER 1

/* A number that is another one after each change of the current process's mappings; 0: one is under way, or this kernel does not count
 * them (before 6.4). */
static __always_inline __u64 changes_of_mappings(void)
{
	struct mm_struct *mm = BPF_CORE_READ(bpf_get_current_task_btf(), mm);
	__u64 count_at = find_mappings_version();
	__u32 count = 0;

	if (!count_at || BPF_CORE_READ(mm, mmap_lock.count.counter) & HAWK_LOCKED_BY_WRITER ||
	    bpf_probe_read_kernel(&count, sizeof(count), (void *)count_at))
		return 0;
	return 1ull << 32 | count;
}

/* The kernel's tree of mappings (lib/maple_tree.c): a node's address has its type in bits 3 to 6, and whatever else up to bit
 * 7; its pivots are the last addresses below its slots, ascending, and the first that is zero stands for all the rest. */
#define HAWK_NODE_MASK 255ull
#define HAWK_NODE_TYPE_SHIFT 3
#define HAWK_NODE_TYPE_MASK 15
#define HAWK_NODE_LEAF 1u
#define HAWK_NODE_ALLOCATION_RANGE 3u
/* Of 65,530 mappings (vm.max_map_count) at five a node; and slots of one node. */
#define HAWK_TREE_LEVELS 8
#define HAWK_NODE_SLOTS 16
#define HAWK_ALLOCATION_NODE_SLOTS 10
#define HAWK_TREE_STEPS (HAWK_TREE_LEVELS * HAWK_NODE_SLOTS)

/* A slot of the tree of mappings: what its range has. */
struct hawk_tree_slot {
	__u64 address;            /* that is looked for */
	__u64 entry;              /* the node, and at last what its leaf holds; 0: nothing is mapped there */
	__u64 first, last;        /* addresses */
	__u64 node_at;            /* the step that came to the node, from which on each passes a slot */
};

/* Passes one slot, or goes down by it. In bpf_loop, whose body the verifier checks once, and in one for all levels: a callback is one
 * of the eight frames that calls may have. What the steps themselves would count the verifier would follow. */
static long step_in_tree(__u32 step, struct hawk_tree_slot *slot)
{
	__u64 node = slot->entry & ~HAWK_NODE_MASK, at = step - slot->node_at, pivot = 0;
	__u32 type = slot->entry >> HAWK_NODE_TYPE_SHIFT & HAWK_NODE_TYPE_MASK;
	bool is_allocation = type == HAWK_NODE_ALLOCATION_RANGE;
	__u64 pivots_at = node + bpf_core_field_offset(struct maple_range_64, pivot);

	if (at < (is_allocation ? HAWK_ALLOCATION_NODE_SLOTS : HAWK_NODE_SLOTS) - 1)
		bpf_probe_read_kernel(&pivot, sizeof(pivot), (void *)(pivots_at + at * sizeof(__u64)));
	if (pivot && slot->address > pivot) {
		slot->first = pivot + 1;
		return 0;
	}
	if (pivot)
		slot->last = pivot;
	node += is_allocation ? bpf_core_field_offset(struct maple_arange_64, slot)
			      : bpf_core_field_offset(struct maple_range_64, slot);
	slot->entry = 0;
	bpf_probe_read_kernel(&slot->entry, sizeof(slot->entry), (void *)(node + at * sizeof(__u64)));
	slot->node_at = step + 1;
	return type == HAWK_NODE_LEAF || !slot->entry ? 1 : 0;
}

/* The address of the mapping at slot->address in the current process, by its tree; 0: none, or it could not be found. Without the
 * kernel's lock: the tree may be changed meanwhile. */
static __always_inline __u64 look_in_tree(struct hawk_tree_slot *slot)
{
	struct task_struct *task = bpf_get_current_task_btf();

	slot->entry = (__u64)BPF_CORE_READ(task, mm, mm_mt.ma_root);
	/* A tree of one entry has no node. */
	if ((slot->entry & 3) != 2)
		return 0;
	bpf_loop(HAWK_TREE_STEPS, step_in_tree, slot, 0);
	return slot->entry & 3 ? 0 : slot->entry;
}

/* The same. Not static: checked once by the verifier. */
__noinline __u64 vma_in_tree(__u64 address)
{
	struct hawk_tree_slot slot = { .address = address };

	return look_in_tree(&slot);
}

static __always_inline struct vm_area_struct *search_tree(__u64 address)
{
	return (struct vm_area_struct *)vma_in_tree(address);
}

#define HAWK_VM_EXEC 4ul

/* What is mapped at an address in no range. */
struct hawk_file_position {
	__u64 address;
	__u64 file_offset;        /* of the address */
	__u64 file;               /* the kernel's; 0: no code of a file; HAWK_MAPPINGS_BUSY */
};

static long note_position(struct task_struct *task, struct vm_area_struct *vma, struct hawk_file_position *position)
{
	position->file = BPF_CORE_READ(vma, vm_flags) & HAWK_VM_EXEC ? (__u64)BPF_CORE_READ(vma, vm_file) : 0;
	position->file_offset = (BPF_CORE_READ(vma, vm_pgoff) << HAWK_PAGE_SHIFT) + (position->address - BPF_CORE_READ(vma, vm_start));
	return 0;
}

static long find_position(__u32 attempt, struct hawk_file_position *position)
{
	long error = bpf_find_vma(bpf_get_current_task_btf(), position->address, note_position, position, 0);

	return end_attempt(error, attempt, &position->file);
}

/* The kernel's file at this address. Not static: checked once by the verifier. */
__noinline int identify_file(__u64 address, struct hawk_file_part *part)
{
	struct inode *inode = inode_of((struct file *)address);

	if (!part)
		return 0;
	part->inode = BPF_CORE_READ(inode, i_ino);
	part->device = BPF_CORE_READ(inode, i_sb, s_dev);
	return 0;
}

/* Not static: checked once by the verifier. */
__noinline int hawk_range_holds(__u32 index)
{
	const __u64 start = code_ranges[index & (2 * HAWK_MAX_CODE_RANGES - 1)].start;
	/* For more there is no room on the stacks of programs on threads' stacks, nor for a function of its own. */
	union {
		struct hawk_tree_slot slot;
		struct hawk_mapping_search search;
	} place = { .slot = { .address = start } };

	/* What the tree has there is looked at all the same. */
	if (remembered_holds(index) || attached_holds(look_in_tree(&place.slot), index))
		return 1;
	if (is_changing_mappings())
		return 0;
	place.search = (struct hawk_mapping_search){ .mapping = { .start = start } };
	loop_apart(HAWK_MAPPING_ATTEMPTS, find_mapping, &place.search);
	if (place.search.vma == HAWK_MAPPINGS_BUSY)
		return -HAWK_EBUSY;
	return place.search.vma && note_mapping(index, place.search.vma, is_mapping_of(&place.search.mapping, index));
}

#endif
