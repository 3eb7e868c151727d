/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What a walk has to know of x86-64. Another processor has a file of its own with the same names. */
#ifndef HAWKTRACE_UNWIND_X86_64_H
#define HAWKTRACE_UNWIND_X86_64_H

/* Where the return address is, from the CFA; and what stack addresses are multiples of. */
#define HAWK_RETURN_SLOT (-8)
#define HAWK_STACK_ALIGNMENT 8

/* A frame that keeps a frame pointer: push %rbp; mov %rsp,%rbp. */
#define HAWK_FRAME_POINTER_CFA 16
#define HAWK_FRAME_POINTER_SAVED (-16)

/* A stub of the procedure linkage table has 16 bytes. */
#define HAWK_PLT_STUB_MASK 15

/* When a signal handler has returned, rsp points to what the kernel left there for sigreturn: struct ucontext, in which
 * uc_mcontext is at 40 (include/uapi/asm-generic/ucontext.h), a struct sigcontext_64 that begins with r8 to r15, di, si, bp,
 * bx, dx, ax, cx, sp, ip (arch/x86/include/uapi/asm/sigcontext.h). */
#define HAWK_SIGNAL_FP (40 + 10 * 8)
#define HAWK_SIGNAL_SP (40 + 15 * 8)
#define HAWK_SIGNAL_PC (40 + 16 * 8)

#endif
