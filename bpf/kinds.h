/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What an allocator function does with its arguments. User space picks the kind of every probed function and passes it
 * to the programs as the probe's cookie. Read by both worlds. */
#ifndef HAWKTRACE_KINDS_H
#define HAWKTRACE_KINDS_H

enum hawk_call_kind {
	HAWK_CALL_NONE = 0,
	HAWK_CALL_MALLOC,         /* f(size): malloc, valloc, pvalloc, mallocx, operator new of every form */
	HAWK_CALL_CALLOC,         /* f(count, size_of_each) */
	HAWK_CALL_REALLOC,        /* f(old, size): realloc, rallocx */
	HAWK_CALL_REALLOCF,       /* f(old, size): frees the old block when it fails as well */
	HAWK_CALL_EXPAND,         /* f(old, size): the block stays where it is, and is as it was if that fails */
	HAWK_CALL_XALLOCX,        /* f(old, size, extra): the same, by `extra` more if there is room; returns the bytes there are */
	HAWK_CALL_REALLOCARRAY,   /* f(old, count, size_of_each) */
	HAWK_CALL_ALIGNED_ALLOC,  /* f(alignment, size): aligned_alloc, memalign */
	HAWK_CALL_POSIX_MEMALIGN, /* f(result *, alignment, size), returns an error code */
	HAWK_CALL_STRING,         /* f(...): a string in a block that has just room for it, its NUL included: strdup, strndup */
	HAWK_CALL_FREE,           /* f(address, ...): free, cfree, free_sized, operator delete, dallocx, sdallocx */
	/* Not followed, but counted when called from outside an allocator. */
	HAWK_CALL_UNFOLLOWED,
	HAWK_CALL_CONTROL,        /* f(name, ...): only by some names, see bpf/allocator_control.h */
	HAWK_CALL_CONTROL_BY_NUMBER, /* f(numbers *, count, ...): the same, by what stands for a name */
};

/* The cookie of a probe on an allocator function: its kind and what follows. */
#define HAWK_COOKIE_KIND 0xff
/* It may throw. */
#define HAWK_COOKIE_MAY_THROW 0x100
/* It belongs to a shared library: a direct call of it comes from the library itself. */
#define HAWK_COOKIE_IN_LIBRARY 0x200
/* The probe is where a function that may throw returns: on one of its ret instructions, or before that, on an instruction
 * from which nothing else can happen any more. Of the rest of the cookie only HAWK_COOKIE_RETURNS_IF and what follows it
 * has a meaning then. At a ret all that is zero. */
#define HAWK_COOKIE_AT_RET 0x400
/* The probe is on a point inside a function (bpf/yield_points.h), whose number follows. The rest is zero. */
#define HAWK_COOKIE_POINT 0x1000
#define HAWK_COOKIE_POINT_SHIFT 16
/* Bytes from its first instruction to the probed one, 16 bits. */
#define HAWK_COOKIE_ENTRY_SHIFT 16
#define HAWK_COOKIE_ENTRY 0xffff
/* From here on, four bits for each of its first three arguments: which register holds it at the probe. The register's number
 * as instructions encode it, exclusive-or that of the register in which the ABI passes it: all zero when none has moved. */
#define HAWK_COOKIE_MOVED_SHIFT 32
#define HAWK_COOKIE_MOVED 0xfff
#define HAWK_RCX 1
#define HAWK_RDX 2
#define HAWK_RSI 6
#define HAWK_RDI 7
/* Of a free, which may be probed where it has a frame already, eight bits each: words from rsp up to the return address; and up to
 * the caller's rbp, plus one, where zero is: it is in rbp. */
#define HAWK_COOKIE_FRAME_SLOT_SHIFT 44
#define HAWK_COOKIE_FRAME_RBP_SHIFT 52
#define HAWK_COOKIE_FRAME_WORDS 0xff

/* It returns only if the condition holds: four bits, see bpf/arch/x86_64/condition.h. */
#define HAWK_COOKIE_RETURNS_IF 0x800
#define HAWK_COOKIE_CONDITION_SHIFT 16
/* The register that holds the result, four bits; zero is rax. */
#define HAWK_COOKIE_RESULT_SHIFT 20
/* Words from rsp up to the return address, 16 bits. */
#define HAWK_COOKIE_SLOT_SHIFT 24
/* Words from rsp up to the caller's rbp, plus one, 16 bits; zero: it is in rbp. */
#define HAWK_COOKIE_SAVED_RBP_SHIFT 40
#define HAWK_COOKIE_WORDS 0xffff

/* The cookie of an event that has several probes, whose number is the rest. Those of the probes are in the map probe_cookies, by
 * that number and by where in its page the probed instruction lies. */
#define HAWK_COOKIE_OF_EVENT (1ull << 63)
#define HAWK_OFFSETS_IN_PAGE 4096
/* Probes that are known by their event. Full: the others have events of their own. */
#define HAWK_MAX_EVENT_PROBES 4096

#endif
