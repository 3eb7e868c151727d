/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Whether an address is where a call of a function returns to: it stands behind an instruction that calls it, directly, through a
 * stub of the procedure linkage table, or through the table itself. */
#ifndef HAWKTRACE_CALLS_OF_FUNCTION_BPF_H
#define HAWKTRACE_CALLS_OF_FUNCTION_BPF_H

#include "bpf/types.h"

/* Bytes before a program counter in which its function begins. */
#define HAWK_FUNCTION_REACH 4096

static __always_inline bool begins_before(__u64 function, __u64 pc)
{
	return function <= pc && pc - function < HAWK_FUNCTION_REACH;
}

#define HAWK_ENDBR64 0xfa1e0ff3u
#define HAWK_BND_PREFIX 0xf2

/* Where a stub leads; 0: there is none. It may begin with endbr64, and its jump with a prefix. */
static __always_inline __u64 target_of_stub(__u64 address)
{
	struct {
		__u8 opcode[2];
		__s32 displacement;
	} __attribute__((packed)) jump = {};
	__u32 first = 0;
	__u8 prefix = 0;
	__u64 target = 0;

	if (bpf_probe_read_user(&first, sizeof(first), (void *)address))
		return 0;
	if (first == HAWK_ENDBR64)
		address += sizeof(first);
	bpf_probe_read_user(&prefix, sizeof(prefix), (void *)address);
	if (prefix == HAWK_BND_PREFIX)
		address++;
	bpf_probe_read_user(&jump, sizeof(jump), (void *)address);
	if (jump.opcode[0] != 0xff || jump.opcode[1] != 0x25)
		return 0;
	bpf_probe_read_user(&target, sizeof(target), (void *)(address + sizeof(jump) + jump.displacement));
	return target;
}

/* Of the function that `pc` lies in. Not static: checked once by the verifier. */
__noinline int returns_from_function(__u64 return_address, __u64 pc)
{
	struct {
		__u8 opcode[2];
		__s32 displacement;
	} __attribute__((packed)) call = {};
	__u64 target = 0;

	if (bpf_probe_read_user(&call, sizeof(call), (void *)(return_address - sizeof(call))))
		return 0;
	__u64 operand = return_address + call.displacement;

	if (call.opcode[1] == 0xe8)
		return begins_before(operand, pc) || begins_before(target_of_stub(operand), pc);
	if (call.opcode[0] != 0xff || call.opcode[1] != 0x15)
		return 0;
	bpf_probe_read_user(&target, sizeof(target), (void *)operand);
	return begins_before(target, pc);
}

#endif
