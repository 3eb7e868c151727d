/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Whether a conditional branch is taken. Pure: compiled for the kernel and for the host's tests. */
#ifndef HAWKTRACE_CONDITION_H
#define HAWKTRACE_CONDITION_H

#include "bpf/types.h"

#define HAWK_FLAG_CARRY 0x1ull
#define HAWK_FLAG_PARITY 0x4ull
#define HAWK_FLAG_ZERO 0x40ull
#define HAWK_FLAG_SIGN 0x80ull
#define HAWK_FLAG_OVERFLOW 0x800ull

/* `condition`: the low four bits of the branch's opcode (Intel SDM volume 1, appendix B); the lowest negates. */
static inline __attribute__((always_inline)) int hawk_condition_holds(__u64 flags, __u32 condition)
{
	int less = !(flags & HAWK_FLAG_SIGN) != !(flags & HAWK_FLAG_OVERFLOW);
	int holds;

	switch (condition >> 1) {
	case 0:
		holds = !!(flags & HAWK_FLAG_OVERFLOW);
		break;
	case 1:
		holds = !!(flags & HAWK_FLAG_CARRY);
		break;
	case 2:
		holds = !!(flags & HAWK_FLAG_ZERO);
		break;
	case 3:
		holds = !!(flags & (HAWK_FLAG_CARRY | HAWK_FLAG_ZERO));
		break;
	case 4:
		holds = !!(flags & HAWK_FLAG_SIGN);
		break;
	case 5:
		holds = !!(flags & HAWK_FLAG_PARITY);
		break;
	case 6:
		holds = less;
		break;
	default:
		holds = less || (flags & HAWK_FLAG_ZERO);
		break;
	}
	return holds ^ (int)(condition & 1);
}

#endif
