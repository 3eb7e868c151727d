/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* __u8 to __u64 in both worlds. The kernel's come with vmlinux.h, which every .bpf.c includes first. */
#ifndef HAWKTRACE_TYPES_H
#define HAWKTRACE_TYPES_H

#ifndef __bpf__
#include <linux/types.h>
#endif

/* 2^64 / golden ratio. Odd, hence a permutation modulo every power of two: multiplied by it, numbers that are near each other
 * come out far apart (Fibonacci hashing). */
#define HAWK_GOLDEN_RATIO 0x9E3779B97F4A7C15ull

#endif
