/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The trace's clock, by which blocks are born: milliseconds since the trace began, in 24 bits. User space sets it at each drain
 * and at each mark, so that what is known of a block's birth is the last of these before it. Pure: compiled for the kernel and
 * for user space. */
#ifndef HAWKTRACE_CLOCK_H
#define HAWKTRACE_CLOCK_H

#include "bpf/types.h"

/* A stamp is a floating-point number: 19 bits of a fraction and 5 of an exponent. So it is exact for the first nine minutes,
 * and from then on to a part in 500,000 of the trace's length (a quarter of a second after a day); it never wraps (2^50 ms), and
 * a later time never has a smaller stamp. */
#define HAWK_STAMP_BITS 24
#define HAWK_STAMP_FRACTION_BITS 19
#define HAWK_STAMP_FRACTION (1u << HAWK_STAMP_FRACTION_BITS)
#define HAWK_STAMP_MOST ((1u << HAWK_STAMP_BITS) - 1)

/* The first millisecond that has this stamp. */
static inline __attribute__((always_inline)) __u64 hawk_stamp_ms(__u32 stamp)
{
	__u32 exponent = stamp >> HAWK_STAMP_FRACTION_BITS;
	__u64 fraction = stamp & (HAWK_STAMP_FRACTION - 1);

	return exponent ? (fraction | HAWK_STAMP_FRACTION) << (exponent - 1) : fraction;
}

/* The stamp of a time; the last one, if it is beyond all. */
static inline __u32 hawk_stamp_of(__u64 ms)
{
	__u32 exponent = 0;

	while (ms >> exponent >= 2 * HAWK_STAMP_FRACTION)
		exponent++;
	if (ms < HAWK_STAMP_FRACTION)
		return (__u32)ms;
	if (exponent + 1 >= 1u << (HAWK_STAMP_BITS - HAWK_STAMP_FRACTION_BITS))
		return HAWK_STAMP_MOST;
	return (exponent + 1) << HAWK_STAMP_FRACTION_BITS | ((__u32)(ms >> exponent) & (HAWK_STAMP_FRACTION - 1));
}

#endif
