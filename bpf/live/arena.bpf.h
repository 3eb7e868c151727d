/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The arena and what the live table in it needs of the kernel: Linux 6.10 or newer (atomics on arena memory, and switching
 * preemption off in a program). Older kernels load none of this: settings.live_table is constant when the verifier looks,
 * so that the code is dead there, and user space does not create the map. */
#ifndef HAWKTRACE_LIVE_ARENA_BPF_H
#define HAWKTRACE_LIVE_ARENA_BPF_H

#include "bpf/arch/x86_64/direct_memory.bpf.h"
#include "bpf/live/arena_layout.h"
#include "bpf/loops.bpf.h"
#include "bpf/maps.bpf.h"

#define __arena __attribute__((address_space(1)))

/* Laid out as arena_layout.h says. Its pages are made by user space before anything may use them. */
struct {
	__uint(type, BPF_MAP_TYPE_ARENA);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
} arena SEC(".maps");

extern void bpf_preempt_disable(void) __weak __ksym;
extern void bpf_preempt_enable(void) __weak __ksym;

#define HAWK_REPEAT(count, callback, context) loop_apart((count), (void *)(callback), (context))

static __always_inline int hawk_has_arena(void)
{
	return settings.live_table == HAWK_LIVE_ARENA;
}

static __always_inline __u32 hawk_cpu(void)
{
	return bpf_get_smp_processor_id();
}

static __always_inline void hawk_preempt_disable(void)
{
	bpf_preempt_disable();
}

static __always_inline void hawk_preempt_enable(void)
{
	bpf_preempt_enable();
}

static __always_inline bool hawk_kernel_preempts(void)
{
	return settings.kernel_preempts;
}

/* Up to 6.12 the kernel refuses it; none that can show pages does. */
static __always_inline bool hawk_calls_global(void)
{
	return HAWK_PAGES_CAN_BE_SHOWN;
}

static __always_inline __u64 hawk_count_at(__u64 address)
{
	/* Each time anew. */
	asm volatile("" : "+r"(address) : : "memory");
	return kernel_word(address);
}

static __always_inline void hawk_relax(void)
{
}

/* The low 32 bits of a pointer into an arena are the offset from its start, which lies at a multiple of 4 GiB. */
static __always_inline struct hawk_arena_header __arena *hawk_header(void)
{
	/* The verifier wants to see the program name its arena. */
	asm volatile("" : : "r"(&arena));
	return (struct hawk_arena_header __arena *)HAWK_ARENA_USER_ADDRESS;
}

static __always_inline struct hawk_live_page __arena *hawk_arena_page(__u32 number)
{
	return (struct hawk_live_page __arena *)(HAWK_ARENA_USER_ADDRESS +
						 (HAWK_ARENA_LIVE_PAGE + (__u64)number) * HAWK_ARENA_PAGE_BYTES);
}

/* x86 orders a store after all loads and stores before it (Intel SDM volume 3, 8.2.2); another architecture needs a
 * store-release here. */
static __always_inline void hawk_unlock(__u32 __arena *lock)
{
	asm volatile("" : : : "memory");
	*(volatile __u8 __arena *)lock &= HAWK_DISPLACED_MASK;
}

static __always_inline void hawk_publish(__u64 __arena *word, __u64 value)
{
	asm volatile("" : : : "memory");
	*(volatile __u64 __arena *)word = value;
}

/* The program that a stack is of. */
static __always_inline __u32 hawk_program_of_stack(__u32 stack)
{
	const struct hawk_stack_record *record = bpf_map_lookup_elem(&stack_records, &stack);

	return record ? record->program : 0;
}

static __always_inline __u32 hawk_program_gone(__u32 program)
{
	return *(volatile __u32 *)&target_at(program)->program ^ program;
}

static __always_inline int hawk_program_lives(__u32 program)
{
	return !hawk_program_gone(program);
}

static __always_inline void hawk_spill(__u64 address, const struct hawk_slot *slot, __u32 program);

#include "bpf/live/arena.h"

#endif
