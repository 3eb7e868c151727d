/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What no other thread may come between on the same CPU: a bucket that is locked, whose other users would wait, and counters that are added
 * to without locked instructions. Preemption is switched off for it; the two calls for that take 2 % of a malloc and free, traps included.
 * Most servers have kernels that do not preempt themselves (none, voluntary): there nothing is switched, and the kernel's count of
 * how often the thread was preempted shows if its administrator has changed that since the trace began. Pure, as arena.h; who
 * includes it has hawk_kernel_preempts() and hawk_count_at(address) of the kernel's. */
#ifndef HAWKTRACE_LIVE_ALONE_H
#define HAWKTRACE_LIVE_ALONE_H

#include "bpf/live/buckets.h"

/* To be given to hawk_end_alone; `preemptions_at`: where the kernel counts them, of the current thread. */
HAWK_INLINE __u64 hawk_begin_alone(__u64 preemptions_at)
{
	if (!hawk_kernel_preempts())
		return hawk_count_at(preemptions_at);
	hawk_preempt_disable();
	return 0;
}

/* Returns whether another thread may have come in between. */
HAWK_INLINE int hawk_end_alone(__u64 preemptions_at, __u64 begun)
{
	if (!hawk_kernel_preempts())
		return hawk_count_at(preemptions_at) != begun;
	hawk_preempt_enable();
	return 0;
}

#endif
