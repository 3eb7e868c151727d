/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Calls of allocator functions that hand out, resize or take back blocks in a way that cannot be followed. */
#ifndef HAWKTRACE_UNFOLLOWED_BPF_H
#define HAWKTRACE_UNFOLLOWED_BPF_H

#include "bpf/allocator_control.h"
#include "bpf/calls.bpf.h"

static __always_inline bool control_moves_blocks(__u64 name_at)
{
	char name[HAWK_CONTROL_NAME_BYTES] = {};

	/* A name that cannot be read may be any. */
	return bpf_probe_read_user_str(name, sizeof(name), (void *)name_at) < 0 || hawk_moves_blocks(name);
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
	if (called_by_own_library(ctx))
		return;
	if ((cookie & HAWK_COOKIE_KIND) == HAWK_CALL_CONTROL && !control_moves_blocks(arguments_at(ctx, cookie).first))
		return;
	count_loss(program_of(thread), HAWK_LOSS_UNFOLLOWED_CALL);
}

#endif
