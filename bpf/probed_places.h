/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Where breakpoints of probes stand in the target's memory, for a last look at them when that memory is about to go: nobody
 * else can look any more. */
#ifndef HAWKTRACE_PROBED_PLACES_H
#define HAWKTRACE_PROBED_PLACES_H

#include "bpf/types.h"

/* Some hundred for a program with several allocators. */
#define HAWK_MAX_PROBED_PLACES 2048
/* Of the code that ends with the first byte of the probed instruction. */
#define HAWK_PLACE_BYTES 16
#define HAWK_BREAKPOINT 0xcc

struct hawk_probed_place {
	__u64 address;            /* of the first of `code` */
	__u8 code[HAWK_PLACE_BYTES]; /* as the file has it */
	__u8 probe_at;            /* which of them the breakpoint is over; the last one */
	__u8 may_be_call;         /* a long nop, which newer kernels replace by a call */
	__u8 is_missing;          /* out: seen without a breakpoint */
	__u8 pad_0[5];
};

/* Whether a call that comes to the first byte of a place runs into a breakpoint. `memory`: what is there. */
static inline int hawk_place_has_breakpoint(const struct hawk_probed_place *place, const __u8 *memory)
{
	for (__u32 i = 0; i < HAWK_PLACE_BYTES; i++) {
		if (i == place->probe_at)
			return memory[i] == HAWK_BREAKPOINT || (place->may_be_call && memory[i] != place->code[i]);
		/* Others have breakpoints too. */
		if (memory[i] != place->code[i] && memory[i] != HAWK_BREAKPOINT)
			return 0;
	}
	return 0;
}

#endif
