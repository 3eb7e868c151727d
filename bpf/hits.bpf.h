/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What the programs on entries, points and frees have to do, in functions that are not static: the verifier goes through it once, and not
 * for each of the maps that the state of a thread may be in. That is a fifth of what it takes to load them. */
#ifndef HAWKTRACE_HITS_BPF_H
#define HAWKTRACE_HITS_BPF_H

#include "bpf/calls.bpf.h"
#include "bpf/frees.bpf.h"
#include "bpf/yield_points.bpf.h"

/* The context of such a program, by the name by which the verifier knows it in functions that are not static (up to 6.2 by no other:
 * kernel commit d384dce281ed). */
struct bpf_user_pt_regs_t {
	struct pt_regs registers;
};

/* Sees a hit, and again once the thread has a state, if it has none. */
#define SEE_HIT(see, thread, ctx, more...)                                                     \
	({                                                                                     \
		struct bpf_user_pt_regs_t *_hit = (struct bpf_user_pt_regs_t *)(ctx);          \
		int _outcome = see(thread, _hit, ##more);                                      \
		if (_outcome == HAWK_STATE_WANTED && (thread = new_thread(ctx)))               \
			_outcome = see(thread, _hit, ##more);                                  \
		_outcome;                                                                      \
	})

__noinline int see_entry(struct hawk_thread *thread, struct bpf_user_pt_regs_t *hit, __u64 cookie, bool in_session)
{
	return on_entry(thread, &hit->registers, cookie, in_session);
}

__noinline int see_yield(struct hawk_thread *thread, struct bpf_user_pt_regs_t *hit, __u64 cookie)
{
	if (cookie & HAWK_COOKIE_POINT)
		return on_yield(thread, &hit->registers, cookie);
	return on_entry(thread, &hit->registers, cookie, false);
}

__noinline int see_free(struct hawk_thread *thread, struct bpf_user_pt_regs_t *hit)
{
	return on_free(thread, &hit->registers);
}

#endif
