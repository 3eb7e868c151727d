/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What a walk has to know of x86-64. Another processor has a file of its own with the same names. */
#ifndef HAWKTRACE_REGISTERS_H
#define HAWKTRACE_REGISTERS_H

#include "bpf/unwind/layout.h"

/* Where the return address is, from the CFA; and what stack addresses are multiples of. */
#define HAWK_RETURN_SLOT (-8)
#define HAWK_STACK_ALIGNMENT 8

/* A stub of the procedure linkage table has 16 bytes. */
#define HAWK_PLT_STUB_MASK 15

/* When a signal handler has returned, rsp points to what the kernel left there for sigreturn: struct ucontext, in which
 * uc_mcontext is at 40 (include/uapi/asm-generic/ucontext.h), a struct sigcontext_64 that begins with r8 to r15, di, si, bp,
 * bx, dx, ax, cx, sp, ip (arch/x86/include/uapi/asm/sigcontext.h). */
#define HAWK_SIGNAL_FP (40 + 10 * 8)
#define HAWK_SIGNAL_SP (40 + 15 * 8)
#define HAWK_SIGNAL_PC (40 + 16 * 8)

/* A rule as the walk takes it: with offsets at which there can be words, and one of rbp that can be loaded from even if it is
 * not stored, as that of the return address can. */
static inline struct hawk_rule hawk_prepared_rule(struct hawk_rule rule)
{
	if (rule.fp_rule == HAWK_FP_SAME)
		rule.fp_offset = HAWK_RETURN_SLOT;
	if (rule.kind == HAWK_RULE_PLAIN && (rule.cfa_offset % HAWK_STACK_ALIGNMENT || rule.fp_offset % HAWK_STACK_ALIGNMENT))
		rule.kind = HAWK_RULE_UNSUPPORTED;
	return rule;
}

#endif
