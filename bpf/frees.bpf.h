/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* From the probe of a free to the counters. */
#ifndef HAWKTRACE_FREES_BPF_H
#define HAWKTRACE_FREES_BPF_H

#include "bpf/calls.bpf.h"

/* Where the return address of a call lies that `cookie` is of. A free may be probed where it has a frame already. */
static __always_inline __u64 return_slot(struct pt_regs *ctx, __u64 cookie)
{
	return ctx->sp + (cookie >> HAWK_COOKIE_FRAME_SLOT_SHIFT & HAWK_COOKIE_FRAME_WORDS) * 8;
}

/* The caller's rbp; 0: it cannot be read. */
static __always_inline __u64 caller_rbp(struct pt_regs *ctx, __u64 cookie)
{
	__u64 saved = cookie >> HAWK_COOKIE_FRAME_RBP_SHIFT & HAWK_COOKIE_FRAME_WORDS, rbp = 0;

	if (!saved)
		return ctx->bp;
	return bpf_probe_read_user(&rbp, sizeof(rbp), (void *)(ctx->sp + (saved - 1) * 8)) ? 0 : rbp;
}

/* Whether a free that the live table knows nothing of was called from inside an allocating call of the same thread: then it
 * is the allocator's own. */
static __always_inline bool inside_call(struct hawk_thread *thread, struct pt_regs *ctx, __u64 cookie)
{
	return thread->call.sp && is_inside(thread, return_slot(ctx, cookie), caller_rbp(ctx, cookie));
}

/* Whether a library's function was called by a direct call, which only the library itself can make: glibc does when a thread
 * ends, once for each chunk in its cache. What programs and other libraries call goes through the dynamic linker. */
static __noinline bool called_by_own_library(struct pt_regs *ctx, __u64 cookie)
{
	__u64 entry = ctx->ip - (cookie >> HAWK_COOKIE_ENTRY_SHIFT & HAWK_COOKIE_ENTRY), return_address = 0;
	struct {
		__u8 opcode;
		__s32 displacement;
	} __attribute__((packed)) call = {};

	if (!(cookie & HAWK_COOKIE_IN_LIBRARY) ||
	    bpf_probe_read_user(&return_address, sizeof(return_address), (void *)return_slot(ctx, cookie)) ||
	    bpf_probe_read_user(&call, sizeof(call), (void *)(return_address - sizeof(call))))
		return false;
	return call.opcode == 0xe8 && return_address + call.displacement == entry;
}

/* Whether a free that the live table knows nothing of was the allocator's own. */
static __always_inline bool is_allocators(struct hawk_thread *thread, struct pt_regs *ctx)
{
	__u64 cookie = probe_cookie(ctx);

	return inside_call(thread, ctx, cookie) || called_by_own_library(ctx, cookie);
}

/* Whether this thread freed `address` a moment ago: then an outer allocator, which was probed too, has passed the call on.
 * Had the address been handed out again since, the live table would know it. */
static __always_inline bool passed_on(const struct hawk_thread *thread, __u64 address)
{
	return thread->last_freed == address;
}

static __always_inline enum hawk_outcome on_free(struct hawk_thread *thread, struct pt_regs *ctx)
{
	__u64 address = ctx->di;
	struct hawk_block block = {};

	/* Asked for only where it is needed: it is a call. */
	if (state.frees_moved)
		address = first_argument_at(ctx, probe_cookie(ctx));
	if (!address || !state.enabled)
		return HAWK_NOTHING_WANTED;
	if (!thread)
		return HAWK_STATE_WANTED;
	if (!is_still_followed(thread))
		return HAWK_NOTHING_WANTED;
	enum hawk_taking taking = live_free(thread, address, &block);

	if (taking == HAWK_TAKEN) {
		if (counts_lives())
			count_death(thread, block.stack, block.born, address);
	} else if (taking == HAWK_NOT_THERE) {
		/* Where small blocks are left alone nearly every free is of this kind, and to know whose it was is not worth
		 * two reads of the target. */
		if (!settings.min_block_bytes && (is_allocators(thread, ctx) || passed_on(thread, address)))
			return HAWK_NOTHING_WANTED;
		if (end_block_of_left(thread, address))
			return HAWK_NOTHING_WANTED;
		note_unknown_free(program_of(thread), address);
		count_untraced_free(program_of(thread));
	}
	if (target_of(thread)->several_allocators)
		thread->last_freed = address;
	return HAWK_NOTHING_WANTED;
}

#endif
