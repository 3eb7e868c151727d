/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What programs and user space know of each traced process. */
#ifndef HAWKTRACE_TARGETS_H
#define HAWKTRACE_TARGETS_H

#include "bpf/losses.h"
#include "bpf/probe_points.h"
#include "bpf/types.h"
#include "bpf/unwind/used_ranges.h"

/* Processes that are traced at a time. A power of two. */
#define HAWK_MAX_TARGETS 1024u

/* A target runs one program after the other (exec), each of which has a heap and stacks of its own. The number of a program is
 * never given again: its lower bits say where its target is in targets, the upper ones count the programs that were there. 0 is
 * none's. What is known by it: threads, stacks (hawk_stack_record), and by these the blocks of the live table. */
#define HAWK_TARGET_MASK (HAWK_MAX_TARGETS - 1)
#define HAWK_NEXT_PROGRAM HAWK_MAX_TARGETS

/* Files whose forms of operator new keep no frame pointer: libstdc++, libc++abi, the executable and a few private copies. */
#define HAWK_MAX_OPERATOR_FILES 8

/* One file with such functions. */
struct hawk_operator_file {
	__u64 base;               /* load base; 0: not mapped yet */
	__u64 low;                /* first and one past the last return address with a rule, ELF virtual addresses */
	__u64 high;
	__u64 init_vaddr;         /* where module_init is probed, ELF virtual address */
	__u32 number;             /* of its rules in operator_rules */
	__u32 pad_0;
};

/* Files whose code may call an allocator from inside an allocator: those that define one, and the dynamic linker. */
#define HAWK_MAX_ALLOCATOR_RANGES 32

struct hawk_range {
	__u64 start;
	__u64 end;
};

#define HAWK_END_OF_MEMORY ((__u64)-1)

/* Anonymous memory that becomes code there is announced at once. Elsewhere that is a just-in-time compiler's work. */
#define HAWK_MAX_PROBED_RANGES 8

/* A file with probes. What is mapped of so many of them is seen when the target ends before user space has looked. */
struct hawk_probed_file {
	__u64 inode;
	__u32 device;             /* as the kernel encodes it */
	__u32 pad_0;
};

/* Where the files lie that a target's calls are understood by. A process made by fork has the same. */
struct hawk_target_files {
	__u64 allocators_low;     /* from the first of allocator_ranges to the end of the last; 0: not all are known */
	__u64 allocators_high;
	__u32 operator_file_count;
	__u32 allocator_range_count; /* 0: not all of them are known */
	struct hawk_operator_file operator_files[HAWK_MAX_OPERATOR_FILES];
	struct hawk_range allocator_ranges[HAWK_MAX_ALLOCATOR_RANGES];
};

/* Written by programs and by user space while tracing. What every event reads comes first; what is written often stands on cache
 * lines of its own. */
struct hawk_target {
	__u32 enabled;            /* the first of its programs that is followed; 0: nothing is counted any more */
	__u32 program;            /* that it runs; 0: nothing is traced here */
	__u32 first_program;      /* the first of its programs; user space's */
	__u32 no_stack;           /* stack number of what this program was given without a stack */
	__u32 reserved_numbers;   /* stack numbers: where HAWK_IN_HAND and the like are counted from */
	__u32 several_allocators; /* more than one file has a probed free: one may pass calls on to another */
	__u64 code_ranges;        /* see HAWK_RANGES_COUNT_BITS */
	__u64 settled_version;    /* of the mappings, for which the ranges in use have been found to hold; 0: none */
	__u64 memory;             /* key of its memory (threads.bpf.h); 0: not known */
	__u32 group;              /* its thread group, as the kernel numbers it */
	__u32 pid;                /* the same, as user space does */
	struct hawk_target_files files;
	struct hawk_range probed_ranges[HAWK_MAX_PROBED_RANGES]; /* of code with probes; those that are not used end at 0 */
	struct hawk_probed_file probed_files[HAWK_MAX_PROBED_RANGES]; /* those that are not used have inode 0 */
	__u64 probe_points;       /* hawk_points_word */
	__u32 borrows_points;     /* HAWK_POINTS_OF_MAKER */
	__u32 allocators_mapped;  /* how often it has begun a program, or mapped code of a file with probes: see forget_allocator_ranges */
	__u64 code_pages;         /* when the lock over its mappings was last released */
	__u64 all_pages;          /* the same, with those that are no code */
	struct hawk_range region_stored; /* what the tree of mappings has entered last, since the lock over them was last released */
	__u64 region_memory;      /* key of the memory that has region_pages */
	__u64 region_pages;       /* when that lock was last released by one who may have changed mappings */
	__u64 frees_before[2];    /* frees of unknown blocks by the programs before: hawk_frees_before */
	__u64 segment_bytes;      /* size of the largest segment of shmat that may be mapped */
	__u64 forked_by;          /* key of the thread that has made the last copy of the memory; 0: it is being written down */
	__u64 forked_pages;       /* pages that were mapped then */
	__u32 regions_announced;  /* a record says what has changed since then */
	__u32 region_replaced;    /* a record says what has been replaced since then */
	__u32 mapping_announced;  /* a record says what has changed since then */
	__u32 new_code_next;      /* where the next one goes */
	struct hawk_new_code new_code[HAWK_NEW_CODE];
	struct hawk_used_ranges used_ranges __attribute__((aligned(64)));
	__u32 code_ranges_stale;  /* user space shall read the mappings again and announce the ranges */
	__u32 has_children;       /* it has started processes */
	__u64 born_ns;            /* by CLOCK_MONOTONIC, when a program found it to be started by a target; 0: user space has begun it */
	__u64 ended_ns;           /* when its last thread ended; 0: it lives */
	__u64 program_began_ns;   /* by CLOCK_MONOTONIC; 0: it is the one that user space has begun with */
	__u32 is_outlived;        /* when it ended, others used its memory */
	__u32 ended_elsewhere;    /* it ended in code of another file than its program's own */
	__u32 is_shared;          /* more than one thread has worked on its memory, or that is not known */
	__u32 pad_2;
	struct hawk_range unrun_code; /* when it ended it had mapped that, and not run it (HAWK_END_OF_MEMORY: nothing of its program) */
	__u32 had_events;         /* before it began to replace its program: perf events, which its probes may be */
	__u32 maker;              /* the program that has started it */
	__u32 is_new_program;     /* it was not made by fork, but begun by an exec */
	__u32 holds_wanted;       /* how often a thread was to be held (holds.bpf.h) */
	__u32 holds_released;     /* user space's: for so many of them all is done */
	__u32 holds_missed;       /* the last of them that went on before that; 0: none */
	__u32 holds;              /* how often a thread was held */
	__u64 held_ns;            /* for how long, in all */
	__u64 longest_hold_ns;
	__u64 probed_files_mask;  /* the files with probes that it has them in: see HAWK_FILE_BITS; user space adds */
	__u64 children_executed;  /* of UNTRACED_CHILD, those that run a program of their own */
	__u64 doubted_calls;      /* interrupted calls that are a loss if they are left, of which it is not known */
	__u64 interrupted_calls;  /* counted, but perhaps not through yet (free_lists.bpf.h) */
	__u64 unwind_misses;      /* look-ups of rules that the cache did not have */
	__u64 losses[HAWK_LOSS_COUNT] __attribute__((aligned(64)));
} __attribute__((aligned(64)));

/* Where the frees are noted that the target's programs before this one have made of unknown blocks. Those of the program
 * that runs stay readable while those of the next are written. */
static inline __attribute__((always_inline)) __u32 hawk_frees_before(__u32 program)
{
	return program / HAWK_NEXT_PROGRAM & 1;
}

#endif
