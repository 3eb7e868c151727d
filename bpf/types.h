/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* __u8 to __u64 in both worlds. The kernel's come with vmlinux.h, which every .bpf.c includes first. */
#ifndef HAWKTRACE_TYPES_H
#define HAWKTRACE_TYPES_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#endif
