/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Probes inside allocating functions: what is known there of the call. User space has proved it from the function's code
 * (userspace/code/yield_plan.h). */
#ifndef HAWKTRACE_YIELD_POINTS_H
#define HAWKTRACE_YIELD_POINTS_H

#include "bpf/types.h"

/* Some hundred for a program with several allocators; a power of two. */
#define HAWK_MAX_YIELD_POINTS 2048u

enum hawk_yield_role {
	HAWK_YIELDS_ALL,          /* size and result */
	HAWK_YIELDS_SIZE,         /* the thread remembers it */
	HAWK_YIELDS_RESULT,       /* of the size what the thread remembers, from its entry or from a point as above */
	HAWK_YIELDS_AHEAD,        /* all: the block that the call is about to take from a free list. If that has none, the size */
};

/* Counters of points are in so many stripes, of which each processor uses one; a power of two. */
#define HAWK_HIT_STRIPES 8u

/* A condition that always holds. */
#define HAWK_ALWAYS 16
/* In place of a register: the result is null; the size is no product. */
#define HAWK_NO_REGISTER 16
/* In place of a distance from rsp. */
#define HAWK_NOT_ON_STACK 0xffff
/* How far it may be from a point before the block is taken to where that has been, in bytes of code. */
#define HAWK_LONGEST_WAY 4096ull
/* Points at one instruction, each for another caller. */
#define HAWK_MOST_CALLERS 16u

struct hawk_yield_point {
	__u8 kind;                /* enum hawk_call_kind */
	__u8 role;                /* enum hawk_yield_role */
	__u8 condition;           /* under which the point counts: see bpf/arch/x86_64/condition.h */
	__u8 result;              /* register, by the number that instructions encode it with */
	__u8 size;                /* the same, unless it is on the stack */
	__u8 factor;              /* the same; by which the size is to be multiplied */
	/* Bytes above rsp. */
	__u16 slot_at;            /* the return address */
	__u16 rbp_at;             /* the caller's rbp; HAWK_NOT_ON_STACK: in rbp */
	__u16 size_at;            /* the size */
	/* HAWK_YIELDS_SIZE of a function that has another one make its block, by one call (WrappedCall of yield_plan.h). */
	__u8 inner_words;         /* from that call's return address up to the function's own; 0: there is none */
	__u8 inner_rbp_words;     /* from where it has saved its caller's rbp up to its return address; 0: it has not */
	__s16 inner_return;       /* where the call returns to, in bytes from the probed instruction */
	/* In a function that others call too: the point counts where it has been called from one place. */
	__u16 caller_at;          /* its return address, in bytes above rsp; HAWK_NOT_ON_STACK: it is no such function */
	__u8 more_callers;        /* points at this instruction for other callers, of which the numbers follow */
	__u8 pad_0;
	__s32 caller_return;      /* what stands there, in bytes from the probed instruction */
	/* HAWK_YIELDS_AHEAD: where the first block of the list stands (FreeList of userspace/code/yield_plan.h). */
	__u8 lists;               /* register */
	__u8 list_shift;
	__u8 size_shift;
	__u8 pad_1;
	__u32 size_added;
	__s32 classes;            /* in bytes from the probed instruction */
	__s32 head;
};

#endif
