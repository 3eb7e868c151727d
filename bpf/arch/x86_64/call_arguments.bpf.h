/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Reading what a call was given from the registers at its probe. */
#ifndef HAWKTRACE_CALL_ARGUMENTS_BPF_H
#define HAWKTRACE_CALL_ARGUMENTS_BPF_H

#include "bpf/arch/x86_64/direct_memory.bpf.h"
#include "bpf/kinds.h"
#include "bpf/types.h"

/* What a call was given. */
struct hawk_arguments {
	__u64 first, second, third;
};

/* A field of the context, read here: clang would otherwise merge the reads of all cases into one at an offset that varies,
 * which the verifier refuses. The assembler text, a comment, makes each of them different. */
#define REGISTER(field) ({ __u64 value = ctx->field; __asm__ volatile("# " #field : "+r"(value)); value; })

/* A general register by the number that instructions encode it with; not the stack pointer. */
static __noinline __u64 register_value(struct pt_regs *ctx, __u32 number)
{
	switch (number) {
	case 0:
		return REGISTER(ax);
	case 1:
		return REGISTER(cx);
	case HAWK_RDX:
		return REGISTER(dx);
	case 3:
		return REGISTER(bx);
	case 5:
		return REGISTER(bp);
	case HAWK_RSI:
		return REGISTER(si);
	case HAWK_RDI:
		return REGISTER(di);
	case 8:
		return REGISTER(r8);
	case 9:
		return REGISTER(r9);
	case 10:
		return REGISTER(r10);
	case 11:
		return REGISTER(r11);
	case 12:
		return REGISTER(r12);
	case 13:
		return REGISTER(r13);
	case 14:
		return REGISTER(r14);
	case 15:
		return REGISTER(r15);
	default:
		return 0;
	}
}

/* Where struct pt_regs has them: four bits for each, its place in words. Not the stack pointer's. */
#define HAWK_PLACES_OF_REGISTERS 0x01236789ED405CBAull

/* The same, where every event needs it: without a call, if the kernel lets a program look at its own context as at any memory. */
static __always_inline __u64 register_at_hand(struct pt_regs *ctx, __u32 number)
{
	if (!HAWK_PAGES_CAN_BE_SHOWN)
		return register_value(ctx, number);
	if (number > 15)
		return 0;
	const void *registers = bpf_rdonly_cast(ctx, 0);

	return *(const __u64 *)(registers + (HAWK_PLACES_OF_REGISTERS >> number * 4 & 15) * 8);
}

/* Nearly always the arguments are where the ABI passes them. Not of frees, whose cookie has more. */
static __always_inline struct hawk_arguments arguments_at(struct pt_regs *ctx, __u64 cookie)
{
	struct hawk_arguments arguments = { ctx->di, ctx->si, ctx->dx };
	__u32 moved = cookie >> HAWK_COOKIE_MOVED_SHIFT;

	if (moved) {
		arguments.first = register_value(ctx, (moved & 15) ^ HAWK_RDI);
		arguments.second = register_value(ctx, (moved >> 4 & 15) ^ HAWK_RSI);
		arguments.third = register_value(ctx, (moved >> 8 & 15) ^ HAWK_RDX);
	}
	return arguments;
}

/* The first alone. */
static __always_inline __u64 first_argument_at(struct pt_regs *ctx, __u64 cookie)
{
	__u32 moved = cookie >> HAWK_COOKIE_MOVED_SHIFT & 15;

	return moved ? register_value(ctx, moved ^ HAWK_RDI) : ctx->di;
}

#endif
