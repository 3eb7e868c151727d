/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What the programs and user space share: limits, the configuration, and the layout of every map. */
#ifndef HAWKTRACE_LAYOUT_H
#define HAWKTRACE_LAYOUT_H

#include "bpf/block_lives.h"
#include "bpf/clock.h"
#include "bpf/yield_points.h"
#include "bpf/unwind/stack_hash.h"
#include "bpf/targets.h"
#include "bpf/types.h"
#include "bpf/unwind/ends.h"
#include "bpf/unwind/layout.h"

/* Deepest stack that can be recorded; --stack-depth lowers it. */
#define HAWK_MAX_FRAMES 256
/* Steps over such functions at the inner end of one stack: new[] nothrow -> new[] -> new is three. */
#define HAWK_MAX_OPERATOR_STEPS 4
/* Stack numbers of the first target that are not of a stack; each further one has as many of its own (reserved_numbers). 0 takes
 * what its first program was given without a stack, and in the programs stands for none. */
#define HAWK_NO_STACK 0
/* Counts the blocks that open realloc calls have taken out of the live table: allocated when taken, freed when settled. At
 * any quiet moment the live table and the blocks in hand together are what the counters call live. */
#define HAWK_IN_HAND 1
/* Its freed_count counts frees of blocks that the live table does not know. */
#define HAWK_UNTRACED 2
/* Calls that were taken for an allocator's own because they came from inside an open call: allocated when that happens,
 * freed when the open call returns. What is left at the end was hidden by calls that never returned. */
#define HAWK_NESTED 3
#define HAWK_FIRST_STACK 4
#define HAWK_RESERVED_NUMBERS 4

/* Where live blocks are kept. */
enum hawk_live_table {
	HAWK_LIVE_HASH,           /* all in the map live_blocks, or in its reserve */
	HAWK_LIVE_ARENA,          /* in the arena; in live_blocks what does not fit there */
};

/* Blocks that the live table can be asked to hold: 64 Mi. */
#define HAWK_MAX_BLOCKS (64u << 20)
/* Blocks in the first map of reserve_maps; each further one doubles the room there is. */
#define HAWK_RESERVE_BLOCKS (1u << 14)
/* As many as have room for HAWK_MAX_BLOCKS. */
#define HAWK_RESERVE_MAPS 13

/* Who is given a thread's system calls, and may answer them as he likes: the thread's own SIGSYS handler (Syscall User
 * Dispatch), or another process (ptrace). */
#define HAWK_DISPATCHED 1u
#define HAWK_TRACED 2u

/* Set by user space before the programs are loaded; constant from then on. */
struct hawk_config {
	__u32 max_stacks;         /* entries of stack_records; also the stride of counters */
	__u32 cpu_mask;           /* counters has cpu_mask + 1 stripes; a power of two minus one */
	__u32 cpus;               /* that this machine can have */
	__u32 max_depth;          /* frames per stack, at most HAWK_MAX_FRAMES */
	__u32 live_table;         /* enum hawk_live_table */
	__u32 stack_index_mask;   /* entries of stack_index less one; a power of two less one */
	__u32 pages_low;          /* fewer ready pages than this beyond those in use: user space is asked for more */
	__u32 location_mask;         /* entries of locations less one; a power of two less one */
	__u32 location_shift;        /* 32 less the bits of location_mask */
	__u64 min_block_bytes;    /* smaller blocks are not followed */
	__u32 frames_low;         /* less room than this: user space is asked for more */
	__u32 may_read_directly;  /* the kernel has what direct_memory.bpf.h needs */
	__u32 kernel_preempts;    /* itself, or that is not known: see live/alone.h */
	__u32 unwind;             /* enum hawk_unwind */
	__u32 follows_children;   /* what targets start is traced as well */
	__u32 holds;              /* threads that map new files are held until these are probed (holds.bpf.h) */
	__u32 returns_are_calls;  /* return probes make a system call of the process (x86-64, from 6.11 on) */
	__u32 probes_go_by_memory; /* a process that shares a target's memory has its probes */
	__u32 probes_share_events; /* an event may have several probes: see probe_cookies.bpf.h */
	__u32 follows_regions;    /* what targets map and unmap is announced (regions.bpf.h) */
	__u32 by_thread;          /* stacks are told apart by the thread that they are of */
	__u32 histograms;         /* of sizes and lifetimes, by stack */
	__u32 region_wakeup_bytes; /* so many bytes in region_events wake user space up */
	__u32 word_type;          /* of the kernel's types, by its number: one that begins with 64 bits (direct_memory.bpf.h) */
	struct hawk_hash_key hash_key;
};

/* How to step over one call site in an operator new without a frame pointer. */
struct hawk_operator_rule {
	__u32 cfa_offset_bytes;   /* canonical frame address minus rsp after the call */
	__u32 rbp_offset_bytes;   /* saved rbp, above that same rsp; HAWK_RBP_UNCHANGED: still in the register */
};
#define HAWK_RBP_UNCHANGED 0xffffffffu
/* Of all files together. A file has some forty call sites. */
#define HAWK_MAX_OPERATOR_RULES 2048

/* Written by programs and by user space while tracing: what is common to all targets. What is written often stands on cache
 * lines of its own. */
struct hawk_state {
	__u32 enabled;            /* 0: nothing is counted any more, of any target */
	__u32 frees_moved;        /* some free is probed where its argument is no longer in its register */
	__u32 overflowed;         /* the live table is an arena, and the hash map has been needed as well */
	__u32 pages_asked;        /* user space has been woken to make pages, and has not answered */
	__u32 reserves_used;      /* maps of reserve_maps, from the first on, that have ever held a block */
	__u32 has_stored_results; /* functions that store their result in memory have been called */
	__u32 clock;              /* a stamp: what is allocated now is born then; raised by user space */
	__u32 threads_in_storage; /* some threads have their state in task storage */
	__u64 direct_map;         /* where the kernel has all memory; 0: not found */
	__u32 cache_cleared;      /* generation in which user space has cleared the cache of rules: see hawk_may_cache */
	__u32 rule_generations;   /* that have been begun: see used_ranges.h */
	__u32 publications;       /* of code ranges, and of their end: see code_ranges.h */
	__u32 has_children;       /* some target has started processes */
	__u32 mapping_events_lost; /* records for which mapping_events had no room */
	__u32 interceptors;       /* HAWK_DISPATCHED, HAWK_TRACED: what find_interceptors has met */
	__u32 pid_level;          /* of user space's pid namespace, as the kernel counts them */
	__u32 births;             /* processes that programs have made targets of: followed_children.bpf.h */
	__u32 searched_target;    /* where in targets is what find_target and check_sharers look for */
	__u32 programs_ended;     /* whose blocks may still be in the live table */
	__u32 owner;              /* user space's thread group, as the kernel numbers it */
	__u32 owner_is_gone;      /* it has ended */
	__u32 holds_suspended;    /* user space has not answered a thread that was held */
	__u32 spares_added;       /* to spare_targets, as often as that is */
	__u32 all_places_used;    /* by processes that live: no more spares will come */
	__u32 processes_begun;    /* on this machine, by a fork or by running another program */
	__u64 next_frame __attribute__((aligned(64)));         /* first unused one of frame_segments */
	__u64 frames_ready;       /* that there is room for; raised by user space */
	__u32 frames_asked;       /* user space has been woken to make room, and has not answered */
	__u32 next_stack;         /* first unused stack number */
};

/* A power of two. A note is needed for as long as a call of posix_memalign takes. */
#define HAWK_EARLY_FREES 256u

/* A block that was given back and that the live table did not know (early_frees.bpf.h). */
struct hawk_early_free {
	__u64 address;
	__u64 number;             /* how many notes there were with it */
	__u64 task;               /* that has freed it; an allocator may do so itself, inside the call */
	__u64 program;            /* whose block it was */
};

/* Argument of arena_make_pages and arena_free_pages: pages of the arena. */
struct hawk_page_range {
	__u64 address;            /* of the first, as user space sees it */
	__u64 count;
};

/* Argument of find_direct_map: a page of the caller and what is in it. */
#define HAWK_CHECK_WORDS 8
struct hawk_direct_map_check {
	__u64 address;            /* of the words; a multiple of 8 */
	__u64 words[HAWK_CHECK_WORDS];
	__u64 direct_map;         /* out; 0: not found */
};

/* A program as the kernel names the tasks that run it. */
struct hawk_program_name {
	__u32 target;             /* whose child runs it: where that is in targets */
	char comm[16];            /* TASK_COMM_LEN */
};
/* Programs that are named. */
#define HAWK_MAX_CHILD_PROGRAMS 256

/* Per stack and CPU stripe; only ever grows. */
struct hawk_counters {
	__u64 allocated_bytes;
	__u64 allocated_count;
	__u64 freed_bytes;
	__u64 freed_count;
};

/* Distinct addresses that frames can have are locations: a program has few that call something, however many stacks pass
 * through them. A frame is stored as the number of its location, in half the room of its address. */
#define HAWK_NO_LOCATION 0xffffffffu

/* The kernel gives every element of an array eight bytes at least. */
struct hawk_two_frames {
	__u32 location[2];
};

/* Frames of one map of frame_segments: 1 MiB. */
#define HAWK_FRAME_SEGMENT_SHIFT 18
#define HAWK_SEGMENT_FRAMES (1u << HAWK_FRAME_SEGMENT_SHIFT)

/* Where the frames of a stack are. Complete before any counter of the stack moves. */
struct hawk_stack_record {
	__u32 first_frame;        /* in frame_segments; its frames may go on in the next segment */
	__u32 thread;             /* with hawk_config.by_thread: whose it is; 0: not known */
	__u32 program;            /* whose it is (targets.h) */
	__u16 depth;              /* 0: this number was never given to a stack */
	__u8 end;                 /* enum hawk_end */
	__u8 guessed;             /* partly walked along frame pointers where no rule showed the way */
};

/* One block of the live table. */
struct hawk_block {
	__u64 size_bytes;         /* as requested */
	__u32 stack;
	__u32 program;            /* whose it is (targets.h) */
	__u64 born;               /* a stamp (clock.h) */
};

/* A thread as thread_names has it. */
struct hawk_thread_key {
	__u32 program;
	__u32 thread;
};
/* Threads whose names are kept. */
#define HAWK_MAX_THREAD_NAMES (1u << 16)
#define HAWK_THREAD_NAME_BYTES 16 /* TASK_COMM_LEN */

/* What a block is known by in hash maps. */
struct hawk_block_key {
	__u64 address;
	__u32 program;
} __attribute__((packed));

#endif
