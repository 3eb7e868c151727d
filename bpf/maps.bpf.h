/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Every map, with who writes it and what happens when it is full. User space sets max_entries before the load. */
#ifndef HAWKTRACE_MAPS_BPF_H
#define HAWKTRACE_MAPS_BPF_H

#include "bpf/layout.h"
#include "bpf/live/overflow_filter.h"
#include "bpf/unwind/walk_state.h"

const volatile struct hawk_config settings = {};

/* Shared with user space through the mapping of .data. */
struct hawk_state state __attribute__((aligned(64))) = { .next_stack = HAWK_FIRST_STACK };

/* The traced processes, shared with user space through the mapping of .bss. */
struct hawk_target targets[HAWK_MAX_TARGETS];

/* Key of memory (threads.bpf.h) -> where its target is in targets. Written by user space through find_target, and by programs when
 * a target runs another one; entries of targets that have ended are removed by user space. Never full. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, __u64);
	__type(value, __u32);
	__uint(max_entries, 2 * HAWK_MAX_TARGETS);
} target_of_memory SEC(".maps");

/* Thread group -> the same. Its last thread removes the entry: another process may get the number. Never full. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, __u32);
	__type(value, __u32);
	__uint(max_entries, 2 * HAWK_MAX_TARGETS);
} target_of_group SEC(".maps");

/* The live table, or with HAWK_LIVE_ARENA what the arena cannot take. Written by programs; user space removes the blocks of
 * programs that have ended. Its memory comes with the blocks, but without waiting for any: if it is refused, the block goes to the
 * reserve. Full: LIVE_TABLE_FULL, the block is not kept nor counted as allocated. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct hawk_block_key);
	__type(value, struct hawk_block);
	__uint(max_entries, 1024);
} live_blocks SEC(".maps");

/* With HAWK_LIVE_HASH: blocks for which live_blocks was refused memory, in preallocated maps. A machine that is short of it
 * refuses, and always a cgroup at its limit, even if all it holds is page cache that could go. User space, which can wait
 * until the kernel has made room, adds the next map as soon as the last one is used. Full too: LIVE_TABLE_ERROR. */
struct hawk_reserve_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(key_size, sizeof(struct hawk_block_key));
	__uint(value_size, sizeof(struct hawk_block)); /* its type would be a mere forward declaration here */
	__uint(max_entries, 1);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__type(key, __u32);
	__uint(max_entries, HAWK_RESERVE_MAPS);
	__array(values, struct hawk_reserve_map);
} reserve_maps SEC(".maps");

/* What wakes user space up to add a map. One entry for each. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} reserve_wakeups SEC(".maps");

/* Stripe of this CPU * settings.max_stacks + stack number -> counters. Programs add, user space reads through a mapping.
 * Never full: its size follows from max_stacks. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct hawk_counters);
	__uint(max_entries, 1);
} counters SEC(".maps");

/* Stack number -> the lives of its blocks, where they are counted. Programs add, user space reads through a mapping. Never full:
 * its size follows from max_stacks. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct hawk_stack_lives);
	__uint(max_entries, 1);
} stack_lives SEC(".maps");

/* Thread -> what it was called when it last had a new stack, with hawk_config.by_thread. Full: others have no name here. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct hawk_thread_key);
	__type(value, char[HAWK_THREAD_NAME_BYTES]);
	__uint(max_entries, HAWK_MAX_THREAD_NAMES);
} thread_names SEC(".maps");

/* Hash of a stack -> its number, as a hash table of our own (intern.bpf.h): an array map, because programs look that up
 * without a call. Written by programs only. Full: STACK_TABLE_FULL, counted on HAWK_NO_STACK. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, __u32);
	__type(value, __u64);
	__uint(max_entries, 1);
} stack_index SEC(".maps");

/* Stack number -> where its frames are. Written once, before the number appears in stack_numbers. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct hawk_stack_record);
	__uint(max_entries, 1);
} stack_records SEC(".maps");

/* The frames of all stacks, one stack after the other, as numbers of locations, in segments. User space adds the next ones
 * before the last is full (state.frames_ready). Full: FRAMES_FULL, counted on HAWK_NO_STACK. */
struct hawk_frame_segment {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct hawk_two_frames)); /* its type would be a mere forward declaration here */
	__uint(max_entries, HAWK_SEGMENT_FRAMES / 2);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__type(key, __u32);
	__uint(max_entries, 1);
	__array(values, struct hawk_frame_segment);
} frame_segments SEC(".maps");

/* What wakes user space up to add segments. One entry at a time (state.frames_asked). */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} frame_wakeups SEC(".maps");

/* Location -> address, as a hash table of our own: an address is found from its hash on. Written by programs only. Full:
 * FRAMES_FULL. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, __u64);
	__uint(max_entries, 1);
} locations SEC(".maps");

/* Number of the file's rules << 32 | ELF virtual address of a return address -> rule. Written by user space before the module's code
 * runs. Full: what no target uses is removed, or else the callers of further files' operator new are not seen where frame pointers are
 * followed. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, __u64);
	__type(value, struct hawk_operator_rule);
	__uint(max_entries, HAWK_MAX_OPERATOR_RULES);
} operator_rules SEC(".maps");

/* Words of the target's stack that are read at a time. */
#define HAWK_WINDOW_WORDS 64

/* The allocator call that a thread is in. */
struct hawk_call {
	__u64 sp;                 /* rsp at its first instruction; 0: none open */
	__u64 return_address;
	__u64 size_bytes;
	union {
		__u64 result_at;  /* posix_memalign: where it stores the address */
		__u64 inner_return; /* with inner_words: where the inner call returns to */
	};
	union {
		__u64 extra_bytes; /* xallocx: bytes that the block may be larger */
		__u64 frees_noted; /* posix_memalign: when it began (early_frees.bpf.h) */
	};
	__u64 old_address;        /* realloc family: the block passed in, 0 without one */
	struct hawk_block old;    /* realloc family: what the live table knew of it */
	__u8 kind;
	__u8 may_throw;
	__u8 inner_words;         /* its block is made by a call of its own: see struct hawk_yield_point */
	__u8 inner_rbp_words;
	__u32 program;            /* of which target the thread runs (targets.h); whether a call is open or not */
	union {
		struct {
			__u32 nested;        /* entries since that may be nested */
			__u8 old_found;
			__u8 is_doubted;     /* counted in state.doubted_calls */
			__u8 may_be_nested;  /* in the one before it (nested_calls.bpf.h) */
			__u8 blocks_inside;  /* since it began the program was given blocks, see hawk_thread */
		};
		__u64 rare;                  /* all of these at once: nearly every call has none */
	};
	__u64 inner_address;      /* of the block that a nested one has returned; 0: none */
	__u64 inner_bytes;
};

/* Open calls of one thread beside the newest: each was interrupted by code of the program, which called an allocator too. */
#define HAWK_INTERRUPTED_CALLS 4

/* Of those blocks which it has got meanwhile so many are remembered; a power of two. */
#define HAWK_BLOCKS_INSIDE 4

/* What wakes user space up: anything in it says that memory is running short. One entry at a time (state.pages_asked). */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} wakeups SEC(".maps");

/* The page of the target that a walk reads now, as the kernel sees it (direct_memory.bpf.h). */
struct hawk_view {
	__u64 page;               /* its first address; HAWK_NO_VIEW: none */
	__u64 shown_at;           /* where the kernel has the page */
	__u64 entry_at;           /* the page-table entry that says so, and what it said */
	__u64 entry;
};
#define HAWK_NO_VIEW (~0ull)

/* A thread of the target: the call it is in, and scratch memory for its walk, which outlives preemption; a per-CPU buffer
 * would be shared by two threads that preempt each other inside a program. */
/* Classes of sizes that a thread remembers; a power of two. */
#define HAWK_KNOWN_CLASSES 64u

struct hawk_thread {
	__u64 owner;              /* the key (threads.bpf.h) of the thread that has this slot of thread_slots; 0: it is free */
	struct hawk_call call;
	/* In map memory and not in registers, because the verifier follows the exact values of registers: it would check all
	 * that comes after a walk once for each of its 256 possible depths. */
	struct hawk_walk walk;
	struct hawk_view view;
	__u64 page_tables;        /* of the process, as the kernel sees them */
	__u64 mappings_version_at; /* where the kernel counts changes of its mappings; 0: it does not */
	__u64 preemptions_at;     /* where it counts how often it has preempted this thread */
	__u64 last_freed;         /* kept only while its target has several allocators */
	__u64 last_allocated;     /* kept only with hawk_config.histograms */
	__u64 run_of_allocations; /* the last block that the thread was given, and that it gave back (hawk_next_in_run) */
	__u64 run_of_frees;
	__u32 interrupted_count;
	__u32 tid;                /* with hawk_config.by_thread: its number in the pid namespace of user space; 0: none there */
	__u32 reads_directly;     /* this walk does */
	__u32 role;               /* of the point that it is at: enum hawk_yield_role, but HAWK_YIELDS_AHEAD. Here as the walk is */
	/* Of the last call that was seen before it took its block (free_lists.bpf.h). */
	__u64 list_at;            /* where the first block of its list stands; 0: there was no such call */
	__u64 listed;             /* the one that it was to take; 0: there was none */
	__u64 listed_ip;          /* where the thread was then */
	__u64 listed_sp;
	__u64 first_listed;       /* the one there when something was seen again */
	__u64 classes_at;         /* where the table is that the known classes are from; 0: there are none */
	__u32 classes_mapped;     /* and how often the process had mapped code of an allocator then */
	__u32 known_classes[HAWK_KNOWN_CLASSES];
	__u32 is_interrupted;     /* that call may have been, by a signal, and nothing has been seen of the thread since */
	__u32 window_bytes;
	__u32 pad_0;
	struct hawk_memos memos;
	/* Up to here is what nearly every event needs, on few pages. */
	__u64 window_base;
	__u64 window[HAWK_WINDOW_WORDS];
	__u64 frames[HAWK_MAX_FRAMES + HAWK_STEPS_AT_ONCE]; /* in the last ones are none; the verifier wants them */
	__u32 known_generation;   /* of the rules that the known steps follow */
	__u32 pad_1;
	struct hawk_known_step known_steps[HAWK_KNOWN_STEPS];
	struct hawk_call interrupted[HAWK_INTERRUPTED_CALLS]; /* the latest last; those in use come first */
	/* The last blocks that the program was given while another call was open. */
	struct hawk_range blocks_inside[HAWK_BLOCKS_INSIDE];
	__u64 left_slot;          /* of the call that was last taken for left, and what was there then; 0: none */
	__u64 left_word;
};

/* Thread -> its state, found by its key, which is there as well. Most threads have theirs here: no call into the kernel is needed to
 * find it. Written by programs only. Full: the thread gets task storage. */
#define HAWK_THREAD_SLOTS 1024u
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, __u32);
	__type(value, struct hawk_thread);
	__uint(max_entries, HAWK_THREAD_SLOTS);
} thread_slots SEC(".maps");

/* Task -> its state, of threads for which there was no slot. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct hawk_thread);
} threads SEC(".maps");

/* Rows of unwind tables, in segments. Written by user space through mappings, before the ranges that lead to them. */
struct hawk_row_segment {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct hawk_row)); /* its type would be a mere forward declaration here */
	__uint(max_entries, HAWK_SEGMENT_ROWS);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__type(key, __u32);
	__uint(max_entries, HAWK_MAX_SEGMENTS);
	__array(values, struct hawk_row_segment);
} row_segments SEC(".maps");

/* Executable segments of files that have rows; and files that are not ELF, without. Written by user space, after the rows.
 * Full: further files are known by their ranges only, a moment after they were mapped. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct hawk_file_part);
	__type(value, struct hawk_code_range);
	__uint(max_entries, HAWK_MAX_KNOWN_FILES);
} known_files SEC(".maps");

/* By number. Written by user space, before the rows that name them. */
struct hawk_rule unwind_rules[HAWK_MAX_RULES];

/* Of all targets: each one's code_ranges says which of them hold; user space writes others. */
struct hawk_code_range code_ranges[2 * HAWK_MAX_CODE_RANGES];

/* What has been found out about each range. */
struct hawk_range_state code_range_states[2 * HAWK_MAX_CODE_RANGES];

/* See HAWK_CACHE_TAG_BITS. Written by programs; cleared by user space when generations repeat. */
__u64 unwind_cache[2 * HAWK_CACHE_SETS];

/* See overflow_filter.h. Written by programs; user space lowers it for the blocks that it removes. */
__u32 overflow_blocks[HAWK_OVERFLOW_CELLS];

/* The target with this program's number. */
static __always_inline struct hawk_target *target_at(__u32 program)
{
	return &targets[program & HAWK_TARGET_MASK];
}

static __always_inline __u32 program_of(const struct hawk_thread *thread)
{
	return thread->call.program;
}

static __always_inline __u64 start_of_hash(const struct hawk_thread *thread)
{
	return hawk_hash_start(program_of(thread) | (settings.by_thread ? (__u64)thread->tid << 32 : 0));
}

static __always_inline struct hawk_target *target_of(const struct hawk_thread *thread)
{
	return target_at(thread->call.program);
}

/* Whether what a thread does is counted. It is not if its target is gone, even where another one has taken that one's place. */
static __always_inline bool is_followed(const struct hawk_thread *thread)
{
	return target_of(thread)->enabled - 1 < program_of(thread);
}

/* `program`: whose numbers are not right then. Not of another target that has taken its place. */
static __always_inline void count_loss(__u32 program, enum hawk_loss cause)
{
	struct hawk_target *target = target_at(program);

	if (program >= target->first_program)
		__sync_fetch_and_add(&target->losses[cause], 1);
}

/* This CPU's counters of a stack; NULL only if `stack` is out of range. */
static __always_inline struct hawk_counters *counters_of(__u32 stack)
{
	__u32 index = (bpf_get_smp_processor_id() & settings.cpu_mask) * settings.max_stacks + stack;

	return bpf_map_lookup_elem(&counters, &index);
}

#endif
