/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Histograms of the sizes and the lifetimes of blocks: which class a number is in. Pure: compiled for the kernel and for user
 * space. */
#ifndef HAWKTRACE_BLOCK_LIVES_H
#define HAWKTRACE_BLOCK_LIVES_H

#include "bpf/types.h"

/* Class 0 is of 0, class k of what has k bits: from 2^(k-1) to 2^k - 1. The last one has all that is larger, too. */
#define HAWK_SIZE_CLASSES 35     /* bytes; the last one: 8 GiB and more */
#define HAWK_LIFETIME_CLASSES 33 /* milliseconds; the last one: 25 days and more */

/* How many bits a number has. Without a branch: the verifier would follow each. */
static inline __attribute__((always_inline)) __u32 hawk_bits(__u64 number)
{
	__u32 bits = 0, half;

	half = (__u32)(number > 0xffffffff) << 5;
	number >>= half;
	bits += half;
	half = (__u32)(number > 0xffff) << 4;
	number >>= half;
	bits += half;
	half = (__u32)(number > 0xff) << 3;
	number >>= half;
	bits += half;
	half = (__u32)(number > 0xf) << 2;
	number >>= half;
	bits += half;
	half = (__u32)(number > 0x3) << 1;
	number >>= half;
	bits += half;
	/* 0 to 3 are left. */
	return bits + (__u32)(number >> 1) + (number != 0);
}

static inline __attribute__((always_inline)) __u32 hawk_class_of(__u64 number, __u32 classes)
{
	__u32 bits = hawk_bits(number);

	return bits < classes ? bits : classes - 1;
}

/* The lives of the blocks of one stack. Counts blocks. */
struct hawk_stack_lives {
	__u64 sizes[HAWK_SIZE_CLASSES];         /* of those that were allocated */
	__u64 lifetimes[HAWK_LIFETIME_CLASSES]; /* of those that were freed */
	__u64 temporary;          /* freed within the interval that they were born in, or before the thread's next allocation */
	__u64 freed_by_others;    /* freed by another thread than that which had allocated them */
};

#endif
