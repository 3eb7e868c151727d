/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* From the frames of a walk to the number of a stack. A stack that is known costs one look-up. */
#ifndef HAWKTRACE_INTERN_BPF_H
#define HAWKTRACE_INTERN_BPF_H

#include "bpf/call_site.h"
#include "bpf/walk.bpf.h"

/* Whether a call stands in front of `address`. Not static: the verifier then checks it once, and not along each of the
 * hundreds of paths that a loop over frames gives it (which is beyond its million instructions). */
__noinline int follows_call(__u64 address)
{
	__u8 code[HAWK_CALL_SITE_BYTES] = {};

	if (bpf_probe_read_user(code, sizeof(code), (void *)(address - HAWK_CALL_SITE_BEFORE)))
		return 0;
	return hawk_is_return_address(code);
}

/* Cuts the walk where a frame is no return address, and hashes what is left. Only new stacks come here, so that known
 * ones never pay for reading code. The first frame needs no proof: the processor returned to it. */
static __noinline void cut_at_garbage(struct hawk_thread *thread)
{
	struct hawk_walk *walk = &thread->walk;
	__u64 hash = hawk_hash_frame(hawk_hash_start(state.exec_epoch), thread->frames[0]);
	__u32 kept = 1;

	for (__u32 i = 1; i < HAWK_MAX_FRAMES; i++) {
		if (i >= walk->depth || !follows_call(thread->frames[i]))
			break;
		hash = hawk_hash_frame(hash, thread->frames[i]);
		kept++;
	}
	if (kept < walk->depth) {
		walk->depth = kept;
		walk->truncated = 0;
	}
	walk->hash = hawk_hash_frame(hash, walk->truncated);
}

/* Copies the frames out; false: no room. */
static __noinline bool store_frames(struct hawk_thread *thread, __u32 depth, __u64 first)
{
	if (first + depth > settings.frame_capacity)
		return false;
	for (__u32 i = 0; i < HAWK_MAX_FRAMES; i++) {
		__u32 index = first + i;

		if (i >= depth)
			break;
		__u64 *slot = bpf_map_lookup_elem(&frames, &index);

		if (!slot)
			return false;
		*slot = thread->frames[i];
	}
	return true;
}

/* Gives a stack that is not known yet its number. */
static __noinline __u32 intern_new(struct hawk_thread *thread)
{
	struct hawk_walk *walk = &thread->walk;
	__u32 number = __sync_fetch_and_add(&state.next_stack, 1);

	if (number >= settings.max_stacks) {
		__sync_fetch_and_sub(&state.next_stack, 1);
		count_loss(HAWK_LOSS_STACK_TABLE_FULL);
		return HAWK_NO_STACK;
	}
	__u64 first = __sync_fetch_and_add(&state.next_frame, walk->depth);
	struct hawk_stack_record *record = bpf_map_lookup_elem(&stack_records, &number);

	if (!record || !store_frames(thread, walk->depth, first)) {
		count_loss(HAWK_LOSS_FRAMES_FULL);
		return HAWK_NO_STACK;
	}
	record->first_frame = first;
	record->exec_epoch = state.exec_epoch;
	record->truncated = walk->truncated;
	record->depth = walk->depth;
	if (!bpf_map_update_elem(&stack_numbers, &walk->hash, &number, BPF_NOEXIST)) {
		if (walk->truncated)
			count_loss(HAWK_LOSS_TRUNCATED_STACK);
		return number;
	}
	/* Another thread was faster with the same stack: its number counts, ours stays unused. */
	__u32 *winner = bpf_map_lookup_elem(&stack_numbers, &walk->hash);

	if (winner)
		return *winner;
	count_loss(HAWK_LOSS_STACK_TABLE_FULL);
	return HAWK_NO_STACK;
}

static __always_inline __u32 stack_number(struct hawk_thread *thread)
{
	struct hawk_walk *walk = &thread->walk;
	__u32 *known = bpf_map_lookup_elem(&stack_numbers, &walk->hash);

	if (known)
		return *known;
	cut_at_garbage(thread);
	known = bpf_map_lookup_elem(&stack_numbers, &walk->hash);
	if (known)
		return *known;
	return intern_new(thread);
}

#endif
