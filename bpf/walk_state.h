/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A stack while it is walked. Pure: part of the state of a thread, in the kernel and in the host's tests. */
#ifndef HAWKTRACE_WALK_STATE_H
#define HAWKTRACE_WALK_STATE_H

#include "bpf/types.h"

struct hawk_walk {
	__u64 pc;                 /* of the last frame */
	__u64 sp;                 /* there, once the call that it waits for has returned */
	__u64 fp;
	__u64 hash;               /* of the frames so far, and without the last */
	__u64 hash_before;
	__u32 depth;
	__u32 is_interrupted;     /* pc is that of an interrupted instruction */
	__u32 generation;         /* that cached rules must have, 0: none will do */
	__u32 end;                /* enum hawk_end; means something once the walk has ended */
	__u32 is_guessed;         /* some step was along a frame pointer */
	__u32 pad_0;
};

#endif
