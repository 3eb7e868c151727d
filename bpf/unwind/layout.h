/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Unwinding by call frame information: what user space makes of .eh_frame, and where programs find it. Read by both worlds.
 *
 *     pc ── cache ──▶ rule number ──▶ rule: where the caller's frame begins, and where its pc and rbp are
 *       └─ not cached: code range ─▶ rows of its file ─▶ rule number, which is then cached
 *            └─ in none: the kernel's mapping ─▶ rows of the file if that is known ─▶ rule number
 *
 * A row says from which offset on a rule holds. Rules are few (300 in libc, some 10,000 on a whole desktop), so that rows
 * only number them. What is particular to x86-64 is in arch/x86_64/registers.h. */
#ifndef HAWKTRACE_UNWIND_LAYOUT_H
#define HAWKTRACE_UNWIND_LAYOUT_H

#include "bpf/types.h"

/* How to walk (--unwind). */
enum hawk_unwind {
	HAWK_UNWIND_AUTO,         /* by rules, and along frame pointers where there are none */
	HAWK_UNWIND_CFI,          /* by rules only */
	HAWK_UNWIND_FP,           /* along frame pointers only */
};

enum hawk_rule_kind {
	HAWK_RULE_NO_CODE,        /* nothing that is known to be code lies there */
	HAWK_RULE_NO_TABLE,       /* the file has no table, or it has not been read yet */
	HAWK_RULE_GAP,            /* the file's table says nothing about this address */
	HAWK_RULE_UNSUPPORTED,    /* what the table says cannot be put into a rule */
	HAWK_RULE_CHANGING,       /* mappings are being changed, so that nothing can be said just now */
	HAWK_RULE_PLAIN,          /* CFA = base + cfa_offset */
	HAWK_RULE_LOADED,         /* CFA = *(base + load_offset) + cfa_offset: frames that GCC realigns */
	HAWK_RULE_PLT,            /* CFA = rsp + cfa_offset, 8 more where pc & 15 >= load_offset: stubs that push once */
	HAWK_RULE_SIGNAL,         /* the signal trampoline: all registers are in the frame that the kernel left */
	HAWK_RULE_END,            /* the outermost frame: its return address is undefined */
	HAWK_RULE_KINDS
};

enum hawk_rule_base {
	HAWK_BASE_SP = 0,
	HAWK_BASE_FP = 1,         /* rbp */
};

/* Where the caller's rbp is. */
enum hawk_fp_rule {
	HAWK_FP_SAME = 0,         /* still in rbp */
	HAWK_FP_AT_CFA = 1,       /* stored at CFA + fp_offset */
	HAWK_FP_AT_SP,            /* stored at rsp + fp_offset */
	HAWK_FP_AT_FP,            /* stored at rbp + fp_offset */
	HAWK_FP_LOST,             /* nowhere */
};

/* How to get from a frame to its caller's. The return address is always at CFA - 8. */
struct hawk_rule {
	__s32 cfa_offset;
	__s32 fp_offset;
	__s32 load_offset;
	__u8 kind;                /* enum hawk_rule_kind */
	__u8 base;                /* enum hawk_rule_base */
	__u8 fp_rule;            /* enum hawk_fp_rule */
	__u8 is_guess;            /* not from a table */
};

/* From `offset` on, up to the next row, the rule with this number. Of one file, ascending. */
struct hawk_row {
	__u32 offset;             /* from the table's first address */
	__u32 rule;
};

/* Rules that are always there: their number is their kind; user space stores them first. The frame-pointer step is a rule
 * like any other. HAWK_RULE_NO_CODE has a second number, by which it can be cached: there 0 says that nothing is. */
#define HAWK_RULE_FRAME_POINTER HAWK_RULE_KINDS
#define HAWK_RULE_NO_CODE_CACHED (HAWK_RULE_KINDS + 1)
#define HAWK_FIRST_RULE (HAWK_RULE_KINDS + 2)
/* A desktop's libraries and programs have some 9,700 rules; what does not fit is HAWK_RULE_UNSUPPORTED. */
#define HAWK_MAX_RULES 16384u

/* Rows of all files, one after the other, in segments that are made when they are needed. */
#define HAWK_SEGMENT_SHIFT 17
#define HAWK_SEGMENT_ROWS (1u << HAWK_SEGMENT_SHIFT)
#define HAWK_MAX_SEGMENTS 1024u
#define HAWK_MAX_ROWS (HAWK_MAX_SEGMENTS * HAWK_SEGMENT_ROWS)

/* Executable mappings that can be distinguished. */
#define HAWK_MAX_CODE_RANGES 8192u

/* Executable segments of files that are known wherever they may be mapped. */
#define HAWK_MAX_KNOWN_FILES 4096u
/* Executable segments that a known file can have. */
#define HAWK_MAX_FILE_PARTS 4u

/* One executable segment of such a file. The file is held open, so that no other gets its inode number. */
struct hawk_file_part {
	__u64 inode;              /* as the kernel has it */
	__u32 device;             /* major << 20 | minor */
	__u32 number;             /* from 0, below HAWK_MAX_FILE_PARTS */
};

/* One executable mapping and its rows; or, for a hawk_file_part, the same with offsets in the file instead of addresses, and
 * nothing else but the rows. */
struct hawk_code_range {
	__u64 start;              /* first address, and one past the last */
	__u64 end;
	__u64 base;               /* of the offsets in its rows: offset = address - base */
	__u64 file_offset;        /* of `start`, as in /proc/PID/maps */
	__u64 inode;              /* the same; 0: the vdso */
	__u32 device;             /* the same, as the kernel encodes it: major << 20 | minor */
	__u32 row_count;          /* 0: no table */
	__u32 first_row;
	__u32 search_step;        /* the greatest power of two that is at most row_count */
};

/* What programs have found out about a code range. Cleared by user space with the range. */
struct hawk_range_state {
	__u64 held_at;            /* the version of the mappings for which it was last found to hold; 0: none */
	__u64 vma;                /* where the kernel has the mapping that it was last found in; 0: not known */
	__u32 used_in;            /* the generation in which it was last noted as used */
	__u32 pad_0;
};
#define HAWK_RANGE_IS_DEAD (~0ull) /* held_at: it does not hold */

/* hawk_target.code_ranges: how many of the table's ranges are the target's, from which one on, and the publication that said so, a
 * number of its own for each. They change together. */
#define HAWK_RANGES_COUNT_BITS 16
#define HAWK_RANGES_VERSION_SHIFT 32

static inline __attribute__((always_inline)) __u64 hawk_ranges_word(__u32 publication, __u32 first, __u32 count)
{
	return (__u64)publication << HAWK_RANGES_VERSION_SHIFT | (__u64)first << HAWK_RANGES_COUNT_BITS | count;
}

static inline __attribute__((always_inline)) __u32 hawk_ranges_count(__u64 word)
{
	return word & ((1u << HAWK_RANGES_COUNT_BITS) - 1);
}

static inline __attribute__((always_inline)) __u32 hawk_ranges_first(__u64 word)
{
	return (__u32)word >> HAWK_RANGES_COUNT_BITS;
}

/* The cache: two entries a set, each
 *
 *     33 bits: with the set, what pc it is of    15 bits: the generation in which it is right    16 bits: rule number
 *
 * The address times an odd number modulo 2^47 is a different one for every address, so that its upper bits as set and its
 * lower bits as tag leave nothing open: no other address can be taken for it. */
#define HAWK_ADDRESS_BITS 47
#define HAWK_CACHE_SET_BITS 14
#define HAWK_CACHE_SETS (1u << HAWK_CACHE_SET_BITS)
#define HAWK_CACHE_TAG_BITS (HAWK_ADDRESS_BITS - HAWK_CACHE_SET_BITS)
#define HAWK_CACHE_RULE_BITS 16
#define HAWK_CACHE_GENERATION_BITS (64 - HAWK_CACHE_TAG_BITS - HAWK_CACHE_RULE_BITS)

#endif
