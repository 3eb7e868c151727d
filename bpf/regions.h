/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What the kernel side announces of the regions of a target's address space (--mappings): one record for each change, in the order
 * in which the kernel makes them, under its lock over the mappings. User space keeps the table of regions (region_table.h). */
#ifndef HAWKTRACE_REGIONS_H
#define HAWKTRACE_REGIONS_H

#include "bpf/types.h"

/* What a region is made of, as /proc/PID/smaps distinguishes it. */
enum hawk_region_kind {
	HAWK_REGION_ANONYMOUS,    /* private memory of no file */
	HAWK_REGION_BRK,          /* the same, below the program break */
	HAWK_REGION_STACK,        /* the same, mapped for a stack (MAP_STACK), or the stack of the process */
	HAWK_REGION_FILE,         /* of a file, private or shared */
	HAWK_REGION_SHARED,       /* shared memory of no file, or of a file without a name (memfd_create) */
	HAWK_REGION_SHM,          /* a segment of shmat */
	HAWK_REGION_KERNEL,       /* what the kernel provides: vdso, vvar, the page of uprobes */
	HAWK_REGION_KINDS,
};

/* Whose a region is. */
enum hawk_region_origin {
	HAWK_REGION_BY_PROGRAM,   /* a call of the program's own */
	HAWK_REGION_BY_ALLOCATOR, /* an allocator, inside a call of the program: blocks lie there */
	HAWK_REGION_OLDER,        /* mapped before the trace, by the kernel before the first instruction of the program, or by its maker */
	HAWK_REGION_ORIGINS,
};

enum hawk_region_change {
	HAWK_REGION_MAPPED,       /* of the range, what was not mapped is from now on */
	HAWK_REGION_GREW,         /* the same, by itself: what is new belongs to what lies above it */
	HAWK_REGION_UNMAPPED,     /* nothing of the range is mapped any more */
	HAWK_REGIONS_UNKNOWN,     /* something has changed that no other record names */
	HAWK_MEMORY_TAKEN,        /* the program begins on this memory; what is mapped there follows */
	HAWK_MEMORY_FORKED,       /* a copy was made of it as it is now, by the thread whose key is in `start` */
	HAWK_MEMORY_COPIED,       /* the program runs on the last copy that the thread has made whose key is in `start` */
};

struct hawk_region_event {
	__u64 memory;             /* by its key (threads.bpf.h) */
	__u64 start;
	__u64 end;
	__u32 program;            /* whose it is */
	__u32 stack;              /* stack number; HAWK_NO_STACK: none */
	__u8 change;              /* enum hawk_region_change */
	__u8 kind;                /* enum hawk_region_kind */
	__u8 origin;              /* enum hawk_region_origin */
	__u8 pad_0;
	__u32 lost;               /* of HAWK_MEMORY_...: changes of the target's that could not be announced until then */
};

/* Bytes of the ring, unless memory is bounded: records of 260,000 changes. */
#define HAWK_REGION_RING_BYTES (16u << 20)
/* User space is woken so often while it fills. */
#define HAWK_REGION_WAKEUPS 8

#endif
