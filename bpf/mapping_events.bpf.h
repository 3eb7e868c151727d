/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Announces to user space what code the target maps. Perf events would announce every process's mappings, and a strange process that maps
 * in a loop would keep hawktrace busy; or they would have to be opened for each thread and CPU. So programs ask which process
 * maps, which costs a stranger some nanoseconds, and hawktrace nothing.
 *
 * Where the kernel can have programs on its functions (fentry), on the one that perf events come from. Elsewhere on the
 * tracepoints of the tree of mappings, which see each mapping as it is entered, and of the lock that is held meanwhile: when it
 * is released, a change of the number of pages with code shows a mapping that became code where it was (mprotect). */
#ifndef HAWKTRACE_MAPPING_EVENTS_BPF_H
#define HAWKTRACE_MAPPING_EVENTS_BPF_H

#include "bpf/holds.bpf.h"
#include "bpf/mapping_events.h"
#include "bpf/mappings.bpf.h"
#include "bpf/threads.bpf.h"

/* Some 400 records. Full: mapping_events_lost. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 512 * 1024);
} mapping_events SEC(".maps");

/* The mount in which the file system below `mount` is mounted; NULL: it is mounted in none. */
static __always_inline struct mount *outer_mount(struct mount *mount)
{
	struct mount *outer = BPF_CORE_READ(mount, mnt_parent);

	return outer == mount ? NULL : outer;
}

static __always_inline struct mount *mount_of(const struct vfsmount *mount)
{
	return (void *)mount - bpf_core_field_offset(struct mount, mnt);
}

/* A path that is written name by name, from its end to the root of the current process. */
struct hawk_path_walk {
	struct hawk_mapping_event *event;
	struct dentry *entry, *root;
	struct mount *mount, *root_mount;
	bool is_whole;
};

static long note_name(__u32 index, struct hawk_path_walk *walk)
{
	struct dentry *entry = walk->entry, *parent;
	struct mount *mount = walk->mount;
	__u32 used = walk->event->path_bytes, at = used;
	long length;

	if (!entry || !mount || (entry == walk->root && mount == walk->root_mount)) {
		walk->is_whole = true;
		return 1;
	}
	if (entry == BPF_CORE_READ(mount, mnt.mnt_root)) {
		walk->entry = BPF_CORE_READ(mount, mnt_mountpoint);
		walk->mount = outer_mount(mount);
		return 0;
	}
	if (used >= HAWK_PATH_BYTES)
		return 1;
	const unsigned char *name = BPF_CORE_READ(entry, d_name.name);

	/* As the verifier of 6.1 wants to see it bounded: right before it is used. */
	__asm__ volatile("" : "+r"(at));
	at &= HAWK_PATH_BYTES - 1;
	length = bpf_probe_read_kernel_str(walk->event->path + at, HAWK_NAME_BYTES, name);
	if (length < 0)
		return 1;
	walk->event->path_bytes = used + length;
	parent = BPF_CORE_READ(entry, d_parent);
	/* A file without a directory, such as those of memfd_create. */
	walk->is_whole = parent == entry;
	walk->entry = parent;
	return walk->is_whole;
}

/* As d_path has it (fs/d_path.c), without its locks: what is renamed meanwhile may come out wrong, and a file is never opened by
 * its path alone. Through bpf_loop, whose body the verifier looks at once; a loop of its own was half of what it did for the two
 * programs that have it (16,000 instructions each). */
static __always_inline void note_path(struct hawk_mapping_event *event, const struct path *path)
{
	struct fs_struct *fs = BPF_CORE_READ(bpf_get_current_task_btf(), fs);
	struct hawk_path_walk walk = {
		.event = event,
		.entry = BPF_CORE_READ(path, dentry),
		.root = BPF_CORE_READ(fs, root.dentry),
		.mount = mount_of(BPF_CORE_READ(path, mnt)),
		.root_mount = mount_of(BPF_CORE_READ(fs, root.mnt)),
	};

	event->path_bytes = 0;
	bpf_loop(HAWK_PATH_NAMES, note_name, &walk, 0);
	if (!walk.is_whole)
		event->path_bytes = 0;
}

static __always_inline struct hawk_mapping_event *begin_mapping_event(const struct hawk_target *target, __u32 kind)
{
	struct hawk_mapping_event *event = bpf_ringbuf_reserve(&mapping_events, sizeof(*event), 0);

	if (!event) {
		__sync_fetch_and_add(&state.mapping_events_lost, 1);
		return NULL;
	}
	event->kind = kind;
	event->file.inode = 0;
	event->target = target->first_program;
	return event;
}

static __always_inline const struct path *path_of_file(struct file *file)
{
	struct backing_file___hawk *backing = (void *)file;

	return user_inode_of(file) ? &backing->user_path : &file->f_path;
}

static __always_inline bool is_over_probes(const struct hawk_target *target, __u64 start, __u64 end)
{
	for (int i = 0; i < HAWK_MAX_PROBED_RANGES; i++) {
		if (start < target->probed_ranges[i].end && target->probed_ranges[i].start < end)
			return true;
	}
	return false;
}

/* Anonymous memory with code: of interest where a file's code was. */
static __always_inline int announce_anonymous(const struct hawk_target *target, __u64 start, __u64 end)
{
	struct hawk_mapping_event *event;

	if (!is_over_probes(target, start, end))
		return 0;
	event = begin_mapping_event(target, HAWK_MAPPINGS_CHANGED);
	if (!event)
		return 0;
	bpf_ringbuf_submit(event, 0);
	return 1;
}

static __always_inline bool is_probed_file(const struct hawk_target *target, __u64 inode, __u32 device)
{
	for (int i = 0; i < HAWK_MAX_PROBED_RANGES; i++) {
		if (target->probed_files[i].inode == inode && target->probed_files[i].device == device)
			return inode != 0;
	}
	return false;
}

/* Code of a file with probes, for the last look as well (probe_points.bpf.h). */
static __noinline void remember_new_code(struct hawk_target *target, struct vm_area_struct *vma, struct inode *inode)
{
	__u64 memory = memory_key(bpf_get_current_task_btf()), start = BPF_CORE_READ(vma, vm_start);
	__u64 number = BPF_CORE_READ(inode, i_ino);
	__u32 device = BPF_CORE_READ(inode, i_sb, s_dev), at;

	if (!is_probed_file(target, number, device))
		return;
	forget_allocator_ranges(target);
	/* The tree of mappings may enter one more than once. */
	at = target->new_code_next - 1;
	if (target->new_code[at & (HAWK_NEW_CODE - 1)].memory != memory || target->new_code[at & (HAWK_NEW_CODE - 1)].start != start)
		at = target->new_code_next++;
	struct hawk_new_code *code = &target->new_code[at & (HAWK_NEW_CODE - 1)];

	code->memory = memory;
	code->start = start;
	code->end = BPF_CORE_READ(vma, vm_end);
	code->file_offset = BPF_CORE_READ(vma, vm_pgoff) << HAWK_PAGE_SHIFT;
	code->inode = number;
	code->device = device;
}

/* A mapping of code of a file, by the current thread. */
static __always_inline int announce_file_mapping(struct hawk_target *target, struct vm_area_struct *vma, struct file *file,
					     const struct hawk_file_key *unknown)
{
	struct inode *inode = inode_of(file);
	/* Nothing stands between this and the question whether there is one, or it would be asked twice: the verifier of 6.1 follows
	 * both answers each time, and finds a record that is never submitted. */
	struct hawk_mapping_event *event = begin_mapping_event(target, HAWK_MAPPING_MADE);

	if (!event)
		return 0;
	event->start = BPF_CORE_READ(vma, vm_start);
	event->end = BPF_CORE_READ(vma, vm_end);
	event->file_offset = BPF_CORE_READ(vma, vm_pgoff) << HAWK_PAGE_SHIFT;
	event->inode = BPF_CORE_READ(inode, i_ino);
	event->device = BPF_CORE_READ(inode, i_sb, s_dev);
	event->file = *unknown;
	note_path(event, path_of_file(file));
	bpf_ringbuf_submit(event, 0);
	return 1;
}

#define HAWK_IS_ANNOUNCED 1
#define HAWK_IS_UNKNOWN 2         /* the thread is to be held: a file that may need probes */

/* A mapping of the current process, which is a target. Returns flags of those. */
static __noinline int announce_mapping(struct hawk_target *target, struct vm_area_struct *vma)
{
	struct file *file = BPF_CORE_READ(vma, vm_file);
	struct hawk_file_key unknown = {};
	int is_announced;

	/* A thread that is about to be killed, as all of its process are, runs none of it; and so the kernel places no breakpoint there
	 * (fatal_signal_pending in uprobe_mmap). */
	if (!(BPF_CORE_READ(vma, vm_flags) & HAWK_VM_EXEC) || is_ending(bpf_get_current_task_btf()))
		return 0;
	if (!file)
		return announce_anonymous(target, BPF_CORE_READ(vma, vm_start), BPF_CORE_READ(vma, vm_end));
	remember_new_code(target, vma, inode_of(file));
	if (settings.holds && target->enabled) {
		unknown = key_of_file(file);
		if (!may_need_probes(target, &unknown))
			unknown.inode = 0;
	}
	is_announced = announce_file_mapping(target, vma, file, &unknown);
	return (is_announced ? HAWK_IS_ANNOUNCED : 0) | (unknown.inode ? HAWK_IS_UNKNOWN : 0);
}

/* The same, and holds the thread if need be. `may_hold`: a constant, by which a program has the code for it or not. The verifier
 * of kernels that have no such callbacks, and where no thread is to be held, would take it for a function that calls itself. */
static __always_inline int take_mapping(struct hawk_target *target, struct vm_area_struct *vma, bool may_hold)
{
	int announced = announce_mapping(target, vma);

	if (may_hold && (announced & HAWK_IS_UNKNOWN))
		hold(target);
	return announced & HAWK_IS_ANNOUNCED;
}

static __always_inline __u64 vm_flags_of(const struct vm_area_struct *vma)
{
	if (settings.may_read_directly)
		return kernel_word((__u64)vma + bpf_core_field_offset(struct vm_area_struct, vm_flags));
	return BPF_CORE_READ(vma, vm_flags);
}

/* The tree of mappings enters `entry`, of the current process, or of another that it makes by fork. */
static __always_inline void on_tree_entry(const struct ma_state *mas, __u64 entry, bool may_hold)
{
	struct vm_area_struct *vma = (void *)entry;

	/* First what distinguishes most of them: every program that maps data in a loop comes here several times each. */
	if (!entry || (entry & 3) || !(vm_flags_of(vma) & HAWK_VM_EXEC))
		return;
	struct mm_struct *mm = BPF_CORE_READ(bpf_get_current_task_btf(), mm);

	if (!mm || BPF_CORE_READ(mas, tree) != &mm->mm_mt || BPF_CORE_READ(vma, vm_mm) != mm)
		return;
	struct hawk_target *target = mapping_target();

	if (target && take_mapping(target, vma, may_hold))
		target->mapping_announced = 1;
}

/* mapping_target() where most mappings are changed: by a thread that has called an allocator before, whose slot says whose it is in a
 * third of the time that two look-ups in the kernel's tables take. */
static __always_inline struct hawk_target *mapping_target_at_hand(void)
{
	__u64 key = current_key();
	const struct hawk_thread *thread = slot_of_choice(key, 0);
	struct hawk_target *target = thread && thread->owner == key ? target_of(thread) : NULL;

	/* Not one that shares the target's memory, which may have become a target itself. */
	if (target && is_followed(thread) && target->group == (__u32)bpf_get_current_task_btf()->tgid)
		return target;
	return mapping_target();
}

/* The lock over the mappings of `mm` is released, whether it was taken to change them or to look: of every process, twice for each
 * region that it maps and unmaps. So what the kernel has here is read where it is.
 *
 * No shorter way around the look for a target is known that is right: what was seen of each memory, kept by its address, was lost
 * where memories met in a slot, and a library that was unloaded then was taken for code that had become data. */
static __always_inline void on_mappings_unlocked(struct mm_struct *mm)
{
	if (mm != bpf_get_current_task_btf()->mm)
		return;
	struct hawk_target *target = mapping_target_at_hand();

	if (!target)
		return;
	__u64 code = mm->exec_vm, all = mm->total_vm;
	/* Fewer pages with code, and none unmapped: code became data, or writable. */
	bool is_change = code > target->code_pages || (code < target->code_pages && all == target->all_pages);
	bool is_announced = target->mapping_announced;
	struct hawk_mapping_event *event;

	target->mapping_announced = 0;
	target->code_pages = code;
	target->all_pages = all;
	if (!is_change || is_announced)
		return;
	event = begin_mapping_event(target, HAWK_MAPPINGS_CHANGED);
	if (event)
		bpf_ringbuf_submit(event, 0);
}

static __always_inline void announce_birth(const struct hawk_target *target)
{
	struct hawk_mapping_event *event = begin_mapping_event(target, HAWK_PROCESS_BORN);

	if (event)
		bpf_ringbuf_submit(event, 0);
}

static __always_inline void announce_replaced_program(const struct hawk_target *target)
{
	struct hawk_mapping_event *event = begin_mapping_event(target, HAWK_PROGRAM_REPLACED);
	struct task_struct *task = bpf_get_current_task_btf();
	struct file *file;

	if (!event)
		return;
	BPF_CORE_READ_INTO(&event->comm, task, comm);
	file = BPF_CORE_READ(task, mm, exe_file);
	event->path_bytes = 0;
	if (file)
		note_path(event, path_of_file(file));
	bpf_ringbuf_submit(event, 0);
}

#endif
