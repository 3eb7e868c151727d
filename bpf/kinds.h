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
	HAWK_CALL_REALLOCARRAY,   /* f(old, count, size_of_each) */
	HAWK_CALL_ALIGNED_ALLOC,  /* f(alignment, size): aligned_alloc, memalign */
	HAWK_CALL_POSIX_MEMALIGN, /* f(result *, alignment, size), returns an error code */
	HAWK_CALL_FREE,           /* f(address, ...): free, cfree, free_sized, operator delete, dallocx, sdallocx */
};

/* The cookie of a probe on an allocator function: its kind and what follows. */
#define HAWK_COOKIE_KIND 0xff
/* It may throw. */
#define HAWK_COOKIE_MAY_THROW 0x100
/* It belongs to a shared library: a direct call of it comes from the library itself. */
#define HAWK_COOKIE_IN_LIBRARY 0x200
/* The probe is on one of its ret instructions; the rest of the cookie has no meaning. */
#define HAWK_COOKIE_AT_RET 0x400
/* Bytes from its first instruction to the probed one, 16 bits. */
#define HAWK_COOKIE_ENTRY_SHIFT 16
#define HAWK_COOKIE_ENTRY 0xffff
/* From here on, four bits for each of its first three arguments: which register holds it at the probe. The register's number
 * as instructions encode it, exclusive-or that of the register in which the ABI passes it: all zero when none has moved. */
#define HAWK_COOKIE_MOVED_SHIFT 32
#define HAWK_RDX 2
#define HAWK_RSI 6
#define HAWK_RDI 7

#endif
