// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Programs that return at once. What a pair costs under them is the price of the traps alone, below which no tracer
// that probes the same instructions can get.
//
// And the same with the kernel's own stack walk at each return, and nothing else: no table of blocks, no counters. That
// is the least that a tracer which relies on bpf_get_stackid pays. The helpers' header uses the kernel's types and does
// not bring them.
// clang-format off
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
// clang-format on

char LICENSE[] SEC("license") = "Dual MIT/GPL";

// As deep as the kernel walks by default (kernel.perf_event_max_stack).
#define STACK_FRAMES 127

// Far more than the stacks of a benchmark, so that none is refused for another one.
struct {
  __uint(type, BPF_MAP_TYPE_STACK_TRACE);
  __uint(key_size, sizeof(__u32));
  __uint(value_size, STACK_FRAMES * sizeof(__u64));
  __uint(max_entries, 16384);
} stacks SEC(".maps");

// 6.13 to 6.x take no argument, 7.0 on take the context (kernel commit 8fe4dc4f6456). vmlinux.h declares the former.
extern bool bpf_session_is_return___ctx(void* ctx) __weak __ksym;

// Proof that probes were hit; one for entries and one for returns. Each is written once, so that processors share the
// line: a read of it is some thousandth of a trap.
bool entry_was_hit = false;
bool return_was_hit = false;

// Both halves of a session: 0 at the entry asks for the return.
SEC("uprobe")
int session_floor(void* ctx) {
  if (!return_was_hit) {
    return_was_hit = entry_was_hit;
    entry_was_hit = true;
  }
  return 0;
}

// An entry that has a return, or a free.
SEC("uprobe")
int entry_floor(void* ctx) {
  if (!entry_was_hit) entry_was_hit = true;
  return 0;
}

SEC("uprobe")
int return_floor(void* ctx) {
  if (!return_was_hit) return_was_hit = true;
  return 0;
}

static __always_inline bool session_is_return(void* ctx) {
  if (bpf_ksym_exists(bpf_session_is_return___ctx)) return bpf_session_is_return___ctx(ctx);
  return bpf_session_is_return();
}

// What the walk found is proved by the map, which user space looks through in the end.
SEC("uprobe")
int return_stackid(void* ctx) {
  if (!return_was_hit) return_was_hit = true;
  bpf_get_stackid(ctx, &stacks, BPF_F_USER_STACK);
  return 0;
}

SEC("uprobe")
int session_stackid(void* ctx) { return session_is_return(ctx) ? return_stackid(ctx) : entry_floor(ctx); }
