/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* How many bytes a call asks for. Pure: compiled for the kernel and for the host's tests. */
#ifndef HAWKTRACE_REQUESTED_SIZE_H
#define HAWKTRACE_REQUESTED_SIZE_H

#include "bpf/kinds.h"
#include "bpf/types.h"

/* The product as a C allocator computes it. One that does not fit in 64 bits makes the call fail, so that what is
 * returned for it is never counted: it is clamped to the largest value. */
static inline __attribute__((always_inline)) __u64 hawk_product(__u64 count, __u64 each_bytes)
{
	__u64 limit = ~0ull;

	if (((count | each_bytes) >> 32) == 0)
		return count * each_bytes;
	/* clang turns the plain form of this test into a 128-bit product, which BPF does not have. */
	__asm__ volatile("" : "+r"(limit));
	return count != 0 && each_bytes > limit / count ? ~0ull : count * each_bytes;
}

/* Of a call whose result shows what it was. */
#define HAWK_SIZE_NOT_KNOWN (~0ull)

/* `first`, `second`, `third`: the call's integer arguments in order. */
static inline __attribute__((always_inline)) __u64 hawk_requested_bytes(__u32 kind, __u64 first, __u64 second,
									 __u64 third)
{
	switch (kind) {
	case HAWK_CALL_MALLOC:
		return first;
	case HAWK_CALL_CALLOC:
		return hawk_product(first, second);
	case HAWK_CALL_REALLOC:
	case HAWK_CALL_REALLOCF:
	case HAWK_CALL_EXPAND:
	case HAWK_CALL_XALLOCX:
	case HAWK_CALL_ALIGNED_ALLOC:
		return second;
	case HAWK_CALL_REALLOCARRAY:
		return hawk_product(second, third);
	case HAWK_CALL_POSIX_MEMALIGN:
		return third;
	case HAWK_CALL_STRING:
		return HAWK_SIZE_NOT_KNOWN;
	default:
		return 0;
	}
}

/* Whether a call of this kind is given a block that it may resize, move or free: its first argument. */
static inline __attribute__((always_inline)) int hawk_takes_block(__u32 kind)
{
	return kind >= HAWK_CALL_REALLOC && kind <= HAWK_CALL_REALLOCARRAY;
}

/* Whether a call that was given a block and asked for `size_bytes` has left it as it was, when it fails. */
static inline __attribute__((always_inline)) int hawk_keeps_block(__u32 kind, __u64 size_bytes)
{
	switch (kind) {
	case HAWK_CALL_REALLOCF:
		return 0;
	case HAWK_CALL_EXPAND:
	case HAWK_CALL_XALLOCX:
		return 1;
	default:
		return size_bytes != 0; /* realloc(p, 0) frees */
	}
}

/* How many bytes a block has that xallocx was asked to give `size_bytes` and up to `extra_bytes` more, when `usable_bytes`, at
 * least the former, are there now: allocators round up, by more than was asked for too. */
static inline __attribute__((always_inline)) __u64 hawk_resized_bytes(__u64 size_bytes, __u64 extra_bytes,
								       __u64 usable_bytes)
{
	return usable_bytes - size_bytes < extra_bytes ? usable_bytes : size_bytes + extra_bytes;
}

#endif
