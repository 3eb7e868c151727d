/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Does the code around an address say that it is a return address? Pure: compiled for the kernel and for the host's tests.
 *
 * A frame-pointer walk through code that uses rbp as a general register reads whatever lies where that points. Such
 * "frames" differ from call to call and would fill the stack table, so every frame of a new stack is checked against
 * the bytes in front of it: Intel SDM volume 2, CALL (E8 rel32; FF /2 with every addressing form). */
#ifndef HAWKTRACE_CALL_SITE_H
#define HAWKTRACE_CALL_SITE_H

#include "bpf/types.h"

/* Bytes that are looked at: eight before the address and nine from it on. */
#define HAWK_CALL_SITE_BEFORE 8
#define HAWK_CALL_SITE_BYTES 17

/* Length in bytes of the indirect call FF /2 whose ModRM byte is `modrm` and SIB byte `sib`; 0: not such a call. */
static inline __attribute__((always_inline)) int hawk_indirect_call_length(__u8 modrm, __u8 sib)
{
	__u8 mod = modrm >> 6, rm = modrm & 7;
	int length = 2;

	if ((modrm & 0x38) != 0x10)
		return 0;
	if (mod == 3)
		return length;
	if (rm == 4)
		length++;
	if (mod == 1)
		return length + 1;
	if (mod == 2)
		return length + 4;
	if (rm == 5 || (rm == 4 && (sib & 7) == 5))
		return length + 4;
	return length;
}

/* `code`: the bytes from HAWK_CALL_SITE_BEFORE before the address on. */
static inline __attribute__((always_inline)) int hawk_follows_call(const __u8 *code)
{
	if (code[HAWK_CALL_SITE_BEFORE - 5] == 0xe8)
		return 1;
	for (int length = 2; length <= 7; length++) {
		const __u8 *at = code + HAWK_CALL_SITE_BEFORE - length;

		if (at[0] == 0xff && hawk_indirect_call_length(at[1], at[2]) == length)
			return 1;
	}
	return 0;
}

/* The return address of a signal handler is the restorer: mov $15,%rax (or %eax); syscall. No call precedes it. */
static inline __attribute__((always_inline)) int hawk_is_signal_restorer(const __u8 *code)
{
	const __u8 *at = code + HAWK_CALL_SITE_BEFORE;

	if (at[0] == 0x48 && at[1] == 0xc7 && at[2] == 0xc0 && at[3] == 0x0f && at[4] == 0 && at[5] == 0 && at[6] == 0)
		return at[7] == 0x0f && at[8] == 0x05;
	return at[0] == 0xb8 && at[1] == 0x0f && at[2] == 0 && at[3] == 0 && at[4] == 0 && at[5] == 0x0f && at[6] == 0x05;
}

static inline __attribute__((always_inline)) int hawk_is_return_address(const __u8 *code)
{
	return hawk_follows_call(code) || hawk_is_signal_restorer(code);
}

#endif
