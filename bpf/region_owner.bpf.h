/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What a region is made of, and whose it is: the program's, by the stack of its system call; or its allocator's, by the stack that
 * the allocator was called from. The latter is found by a walk from the system call to the newest open call. */
#ifndef HAWKTRACE_REGION_OWNER_BPF_H
#define HAWKTRACE_REGION_OWNER_BPF_H

#include "bpf/arch/x86_64/calls_of_function.bpf.h"
#include "bpf/arch/x86_64/system_calls.h"
#include "bpf/maps.bpf.h"
#include "bpf/regions.h"
#include "bpf/unwind/find_stack.bpf.h"

#define HAWK_VM_SHARED 8ul
#define HAWK_VM_GROWSDOWN 0x100ul
#define HAWK_TMPFS_MAGIC 0x01021994ul
#define HAWK_HUGETLBFS_MAGIC 0x958458f6ul
/* A file system that only the kernel has mounted (SB_KERNMOUNT). */
#define HAWK_KERNEL_MOUNT (1ul << 22)

/* Files of the kernel's own mounts are memory; the name says of what kind (mm/shmem.c, ipc/shm.c, fs/hugetlbfs/inode.c). */
static __noinline __u8 kind_of_file(struct file *file, __u64 flags)
{
	struct super_block *system = BPF_CORE_READ(file, f_inode, i_sb);
	const unsigned char *name = BPF_CORE_READ(file, f_path.dentry, d_name.name);
	__u64 magic = BPF_CORE_READ(system, s_magic);
	char begins[4] = {};

	if (!(BPF_CORE_READ(system, s_flags) & HAWK_KERNEL_MOUNT) ||
	    (magic != HAWK_TMPFS_MAGIC && magic != HAWK_HUGETLBFS_MAGIC))
		return HAWK_REGION_FILE;
	bpf_probe_read_kernel(begins, sizeof(begins), name);
	if (begins[0] == 'S' && begins[1] == 'Y' && begins[2] == 'S' && begins[3] == 'V')
		return HAWK_REGION_SHM;
	/* "anon_hugepage"; or a file of memfd_create, which is shared by all who have it, also where it is mapped privately. */
	return (flags & HAWK_VM_SHARED) || magic == HAWK_TMPFS_MAGIC || begins[0] != 'a' ? HAWK_REGION_SHARED : HAWK_REGION_ANONYMOUS;
}

/* By what the kernel knows of it. */
static __always_inline __u8 kind_of_mapping(struct vm_area_struct *vma)
{
	__u64 flags = BPF_CORE_READ(vma, vm_flags);
	struct file *file = BPF_CORE_READ(vma, vm_file);

	if (file)
		return kind_of_file(file, flags);
	if (BPF_CORE_READ(vma, vm_ops))
		return HAWK_REGION_KERNEL;
	return flags & HAWK_VM_GROWSDOWN ? HAWK_REGION_STACK : HAWK_REGION_ANONYMOUS;
}

/* By the system call that maps it as well. */
static __always_inline __u8 kind_of_region(struct vm_area_struct *vma, const struct pt_regs *registers)
{
	__u8 kind = kind_of_mapping(vma);

	if (kind != HAWK_REGION_ANONYMOUS || BPF_CORE_READ(vma, vm_file))
		return kind;
	switch (BPF_CORE_READ(registers, orig_ax)) {
	case HAWK_SYSCALL_BRK:
		return HAWK_REGION_BRK;
	case HAWK_SYSCALL_MMAP:
		return BPF_CORE_READ(registers, r10) & HAWK_MAP_STACK ? HAWK_REGION_STACK : HAWK_REGION_ANONYMOUS;
	default:
		return HAWK_REGION_ANONYMOUS;
	}
}

/* What lies between a system call and the newest open call of its thread. */
enum hawk_region_relation {
	HAWK_REGION_IN_CALL,      /* the call has led to it; the walk stands at the call's caller */
	HAWK_REGION_OUTSIDE,      /* it has not: a signal handler or a coroutine, or it was left */
	HAWK_REGION_NO_WAY,       /* not known */
	HAWK_REGION_GO_ON,
};

/* One step of a walk from a system call to the newest open call. Not static: checked once by the verifier. */
__noinline int step_to_open_call(struct hawk_thread *thread)
{
	if (!thread)
		return HAWK_REGION_NO_WAY;
	struct hawk_walk *walk = &thread->walk;
	__u64 slot = thread->call.sp, before = walk->sp;

	/* In place of the return address may be the trampoline: the next step replaces that. */
	if (before == slot + 8 && hawk_last_frame(thread) != trampoline_address())
		return HAWK_REGION_IN_CALL;
	if (hawk_last_frame(thread) & HAWK_FRAME_INTERRUPTED)
		return HAWK_REGION_OUTSIDE;
	if (!hawk_step_otherwise(thread))
		return walk->end == HAWK_END_OUTERMOST ? HAWK_REGION_OUTSIDE : HAWK_REGION_NO_WAY;
	if (walk->is_guessed)
		return HAWK_REGION_NO_WAY;
	return before <= slot && walk->sp > slot + 8 ? HAWK_REGION_OUTSIDE : HAWK_REGION_GO_ON;
}

/* Frames between the two that are looked at. */
#define HAWK_REGION_FRAMES 64

/* Not static: checked once by the verifier. */
__noinline int walk_to_open_call(struct hawk_thread *thread, __u64 pc, __u64 sp, __u64 fp)
{
	int found = HAWK_REGION_GO_ON;

	if (!thread || settings.unwind == HAWK_UNWIND_FP)
		return HAWK_REGION_NO_WAY;
	thread->reads_directly = 0;
	thread->view.page = HAWK_NO_VIEW;
	thread->window_bytes = 0;
	hawk_begin_walk(thread, 0, pc, sp, fp, hawk_rule_generation(thread));
	for (int i = 0; found == HAWK_REGION_GO_ON && i < HAWK_REGION_FRAMES; i++)
		found = step_to_open_call(thread);
	return found == HAWK_REGION_GO_ON ? HAWK_REGION_NO_WAY : found;
}

/* The stack that the newest open call was made from, as its return will find it. */
static __always_inline __u32 stack_of_open_call(struct hawk_thread *thread, int relation, __u64 fp)
{
	__u64 slot = thread->call.sp, pc = 0;

	if (relation == HAWK_REGION_IN_CALL)
		return stack_from(thread, hawk_last_pc(thread), thread->walk.sp, thread->walk.fp);
	bpf_probe_read_user(&pc, sizeof(pc), (void *)slot);
	return stack_from(thread, pc, slot + 8, fp);
}

/* Words of a function's frame in which its return address is looked for. */
#define HAWK_CALLER_WORDS 64

/* The call of the function that the current system call lies in. */
struct hawk_caller {
	__u64 pc, sp;             /* of the system call */
	__u64 next_pc, next_sp;   /* where the walk begins: there, or in the caller */
};

static long look_for_caller(__u32 word, struct hawk_caller *caller)
{
	__u64 slot = caller->sp + word * sizeof(__u64), address = 0;

	if (bpf_probe_read_user(&address, sizeof(address), (void *)slot))
		return 1;
	/* What cannot be an address is most of what lies there. */
	if (address < HAWK_FUNCTION_REACH || address >> 47 || !returns_from_function(address, caller->pc))
		return 0;
	caller->next_pc = address;
	caller->next_sp = slot + sizeof(__u64);
	return 1;
}

/* Functions that map memory keep no frame pointers: along these their caller would be missed. Goes on from there, if it is found. Not
 * static: checked once by the verifier. */
__noinline int go_to_caller(struct hawk_caller *caller)
{
	if (!caller)
		return 0;
	struct hawk_caller found = *caller; /* bpf_loop passes on what is on the stack alone */

	bpf_loop(HAWK_CALLER_WORDS, look_for_caller, &found, 0);
	*caller = found;
	return 0;
}

/* Whose the region is that the current thread, whose state this is, maps, and by which stack. */
static __always_inline void find_owner(struct hawk_thread *thread, const struct pt_regs *registers, struct hawk_region_event *event)
{
	__u64 pc = BPF_CORE_READ(registers, ip), sp = BPF_CORE_READ(registers, sp), fp = BPF_CORE_READ(registers, bp);
	int relation = HAWK_REGION_OUTSIDE;

	if (thread->call.sp)
		relation = walk_to_open_call(thread, pc, sp, fp);
	if (relation == HAWK_REGION_OUTSIDE) {
		struct hawk_caller at = { .pc = pc, .sp = sp, .next_pc = pc, .next_sp = sp };

		if (settings.unwind == HAWK_UNWIND_FP)
			go_to_caller(&at);
		event->stack = stack_from(thread, at.next_pc, at.next_sp, fp);
		return;
	}
	event->origin = HAWK_REGION_BY_ALLOCATOR;
	event->stack = stack_of_open_call(thread, relation, fp);
}

#endif
