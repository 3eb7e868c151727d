/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The cookie of a probe says what is probed. Where processes pass probes on to those that they make, each perf event costs every
 * thread that is made some microseconds, so that one event has all probes of a program in a file; its cookie is the same for all of
 * them, and they are known by where they lie. */
#ifndef HAWKTRACE_PROBE_COOKIES_BPF_H
#define HAWKTRACE_PROBE_COOKIES_BPF_H

#include "bpf/kinds.h"
#include "bpf/maps.bpf.h"

/* Number of an event * HAWK_OFFSETS_IN_PAGE + where in its page the instruction lies -> cookie of the probe there. Written by user
 * space, before the event is there. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u64);
	__type(value, __u64);
	__uint(max_entries, HAWK_MAX_EVENT_PROBES);
} probe_cookies SEC(".maps");

/* Not of return probes: there `ctx` has another address. */
static __always_inline __u64 probe_cookie(struct pt_regs *ctx)
{
	__u64 cookie = bpf_get_attach_cookie(ctx), key, *known;

	if (!settings.probes_share_events || !(cookie & HAWK_COOKIE_OF_EVENT))
		return cookie;
	key = (cookie & ~HAWK_COOKIE_OF_EVENT) * HAWK_OFFSETS_IN_PAGE + (ctx->ip & (HAWK_OFFSETS_IN_PAGE - 1));
	known = bpf_map_lookup_elem(&probe_cookies, &key);
	return known ? *known : 0;
}

#endif
