/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The 64-bit identity of a stack. Pure: compiled for the kernel and for the host's tests.
 *
 * One multiplication and one shift a frame (the mixer of MurmurHash3's family with the golden ratio as multiplier).
 * With n stacks the chance that any two collide is n^2 / 2^65: 3e-10 for 100,000. */
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
	hash = (hash ^ address) * HAWK_HASH_MULTIPLIER;
	return hash ^ hash >> 29;
}

#endif
