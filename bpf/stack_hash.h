/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The 64-bit identity of a stack. Pure: compiled for the kernel and for the host's tests.
 *
 * One multiplication a frame, and one more at the end, which spreads what distinguishes two stacks over all bits (the mixer of
 * MurmurHash3's family with the golden ratio as multiplier). With n stacks the chance that any two collide is n^2 / 2^65:
 * 3e-10 for 100,000. */
#ifndef HAWKTRACE_STACK_HASH_H
#define HAWKTRACE_STACK_HASH_H

#include "bpf/types.h"

#define HAWK_HASH_MULTIPLIER 0x9E3779B97F4A7C15ull

static inline __attribute__((always_inline)) __u64 hawk_hash_start(__u32 exec_epoch)
{
	return (exec_epoch + 1) * HAWK_HASH_MULTIPLIER;
}

static inline __attribute__((always_inline)) __u64 hawk_hash_frame(__u64 hash, __u64 address)
{
	return (hash ^ address) * HAWK_HASH_MULTIPLIER;
}

/* What the frames' hash is in the end. */
static inline __attribute__((always_inline)) __u64 hawk_hash_finish(__u64 hash)
{
	hash = (hash ^ hash >> 32) * 0xD6E8FEB86659FD93ull;
	return hash ^ hash >> 32;
}

/* Modulo 2^64 the product of this and HAWK_HASH_MULTIPLIER is 1. */
#define HAWK_HASH_INVERSE 0xF1DE83E19937733Dull

/* The hash that hawk_hash_frame(hash, address) was made of. */
static inline __attribute__((always_inline)) __u64 hawk_unhash_frame(__u64 hash, __u64 address)
{
	return hash * HAWK_HASH_INVERSE ^ address;
}

#endif
