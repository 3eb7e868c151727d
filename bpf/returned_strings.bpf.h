/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Blocks that have been made for a string (HAWK_CALL_STRING): when the call returns, the string is there and tells the size. */
#ifndef HAWKTRACE_RETURNED_STRINGS_BPF_H
#define HAWKTRACE_RETURNED_STRINGS_BPF_H

#include "bpf/loops.bpf.h"
#include "bpf/maps.bpf.h"

/* As much is read at once, and so often: some 8 MB. */
#define HAWK_STRING_PART_BYTES 128
#define HAWK_STRING_PARTS (1 << 16)

struct hawk_string {
	__u64 address;
	__u64 bytes;              /* that have been read */
	bool is_whole;
};

static long read_string_part(__u32 index, struct hawk_string *string)
{
	char part[HAWK_STRING_PART_BYTES];
	long bytes = bpf_probe_read_user_str(part, sizeof(part), (void *)(string->address + string->bytes));

	if (bytes <= 0)
		return 1;
	/* In place of the last byte of a part is a NUL, whether the string ends there or not. */
	string->is_whole = bytes < HAWK_STRING_PART_BYTES;
	string->bytes += string->is_whole ? bytes : HAWK_STRING_PART_BYTES - 1;
	return string->is_whole;
}

/* A call has returned the string at `address`: notes how many bytes it has. Returns the address; 0: the call has failed, or that
 * cannot be seen. Not static: checked once by the verifier. */
__noinline __u64 take_string(struct hawk_call *call, __u64 address)
{
	struct hawk_string string = { .address = address };

	if (!call || !address)
		return 0;
	loop_apart(HAWK_STRING_PARTS, read_string_part, &string);
	call->size_bytes = string.bytes;
	if (string.is_whole)
		return address;
	count_loss(call->program, HAWK_LOSS_UNREADABLE_RESULT);
	return 0;
}

#endif
