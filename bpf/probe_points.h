/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Where breakpoints of probes stand in the target's memory, for a last look at them when that memory is about to go:
 * user space cannot look any more. */
#ifndef HAWKTRACE_PROBE_POINTS_H
#define HAWKTRACE_PROBE_POINTS_H

#include "bpf/types.h"

/* Of all targets; 114 for glibc followed by plans, some hundred for a program with several allocators. A power of two, which the index
 * of the first in hawk_points_word has room for. */
#define HAWK_MAX_PROBE_POINTS 32768
/* Of the code that ends with the first byte of the probed instruction, and the same in words. */
#define HAWK_POINT_BYTES 16
#define HAWK_POINT_WORDS 2

/* The points of a target, in one word, so that programs never see half of a change: how many (16 bits), the first (16 bits), and the
 * number of the set, which no other has before long. 0: none. */
static inline __u64 hawk_points_word(__u32 set, __u32 first, __u32 count)
{
	return (__u64)set << 32 | first << 16 | count;
}

static inline __u32 hawk_points_set(__u64 word)
{
	return (__u32)(word >> 32);
}

static inline __u32 hawk_points_first(__u64 word)
{
	return (__u32)(word >> 16 & 0xffff);
}

static inline __u32 hawk_points_count(__u64 word)
{
	return (__u32)(word & 0xffff);
}

/* Of a process that a target has started, until user space has heard of it, or has room for points of its own: it has the maker's
 * points, where the maker has them, or in other memory, where only what it maps is known. What is missing is counted at once. */
#define HAWK_POINTS_OF_MAKER 1
#define HAWK_POINTS_OF_MAKER_ELSEWHERE 2

/* Of a mask, the highest bit of a byte stands for it. */
struct hawk_probe_point {
	__u64 address;            /* of the first of `code`; 0: user space knows of no mapping */
	__u64 file_offset;        /* of the same */
	__u64 inode;
	__u32 device;             /* as the kernel encodes it */
	__u32 set;                /* the number of those that it is one of; 0: it is being written */
	__u64 code[HAWK_POINT_WORDS]; /* as the file has it */
	__u64 before[HAWK_POINT_WORDS]; /* mask of those that come before the probed one */
	__u64 probed[HAWK_POINT_WORDS]; /* mask of that */
	__u32 bytes;              /* up to and with the probed one */
	__u16 may_be_call;        /* a long nop, which newer kernels replace by a call */
	__u16 is_missing;         /* out: seen without a breakpoint, HAWK_MISSING_ */
};

#define HAWK_MISSING_THERE 1      /* at its address */
#define HAWK_MISSING_IN_NEW_CODE 2

/* Code of a file with probes that the target has mapped. User space hears of it, but a program that the target replaces itself with
 * may have ended by then: what is remembered of it is enough for the last look. */
struct hawk_new_code {
	__u64 memory;             /* key of the memory that it is in (threads.bpf.h); 0: nothing is remembered */
	__u64 start;
	__u64 end;
	__u64 file_offset;
	__u64 inode;
	__u32 device;
	__u32 pad_0;
};

/* Of each program the last ones; a power of two. */
#define HAWK_NEW_CODE 8

/* The mask of bytes that are not zero. */
static inline __u64 hawk_set_bytes(__u64 word)
{
	const __u64 low = 0x7f7f7f7f7f7f7f7full;

	return (((word & low) + low) | word) & ~low;
}

/* Whether a call that comes to the first byte of a point runs into a breakpoint. `memory`: what is there. Without branches,
 * of which the verifier would follow every combination. */
static inline int hawk_point_has_breakpoint(const struct hawk_probe_point *point, const __u64 *memory)
{
	const __u64 breakpoints = 0xccccccccccccccccull;
	__u64 changed_0 = hawk_set_bytes(memory[0] ^ point->code[0]), changed_1 = hawk_set_bytes(memory[1] ^ point->code[1]);
	__u64 other_0 = hawk_set_bytes(memory[0] ^ breakpoints), other_1 = hawk_set_bytes(memory[1] ^ breakpoints);

	/* Others have breakpoints too. */
	if ((changed_0 & other_0 & point->before[0]) | (changed_1 & other_1 & point->before[1]))
		return 0;
	if (!((other_0 & point->probed[0]) | (other_1 & point->probed[1])))
		return 1;
	return point->may_be_call && ((changed_0 & point->probed[0]) | (changed_1 & point->probed[1]));
}

#endif
