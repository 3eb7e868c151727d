/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Calls of allocator functions that hand out, resize or take back blocks in a way that cannot be followed. */
#ifndef HAWKTRACE_UNFOLLOWED_BPF_H
#define HAWKTRACE_UNFOLLOWED_BPF_H

#include "bpf/allocator_control.h"
#include "bpf/frees.bpf.h"

static __always_inline bool control_moves_blocks(__u64 name_at)
{
	char name[HAWK_CONTROL_NAME_BYTES] = {};

	/* A name that cannot be read may be any. */
	return bpf_probe_read_user_str(name, sizeof(name), (void *)name_at) < 0 || hawk_moves_blocks(name);
}

static __always_inline bool numbers_move_blocks(__u64 numbers_at, __u64 count)
{
	__u64 numbers[HAWK_CONTROL_NUMBERS] = {};

	/* Of two there is no third. */
	if (bpf_probe_read_user(numbers, 2 * sizeof(numbers[0]), (void *)numbers_at))
		return true;
	if (count == HAWK_CONTROL_NUMBERS && bpf_probe_read_user(&numbers[2], sizeof(numbers[2]), (void *)numbers_at + 2 * sizeof(numbers[0])))
		return true;
	return hawk_numbers_move_blocks(numbers, count);
}

static __always_inline bool may_move_blocks(__u32 kind, const struct hawk_arguments *arguments)
{
	switch (kind) {
	case HAWK_CALL_CONTROL:
		return control_moves_blocks(arguments->first);
	case HAWK_CALL_CONTROL_BY_NUMBER:
		return numbers_move_blocks(arguments->first, arguments->second);
	default:
		return true;
	}
}

/* What an allocator calls itself is part of a call that is followed, or that was counted. */
static __always_inline void on_unfollowed(struct pt_regs *ctx)
{
	struct hawk_thread *thread = known_thread(ctx);
	__u64 cookie = probe_cookie(ctx);

	if (!state.enabled)
		return;
	thread = followed_thread(thread, ctx);
	if (!thread)
		return;
	if (called_by_own_library(ctx, cookie))
		return;
	struct hawk_arguments arguments = arguments_at(ctx, cookie);

	if (!may_move_blocks(cookie & HAWK_COOKIE_KIND, &arguments))
		return;
	count_loss(program_of(thread), HAWK_LOSS_UNFOLLOWED_CALL);
}

#endif
