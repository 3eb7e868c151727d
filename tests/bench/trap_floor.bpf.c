// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Programs that return at once. What a pair costs under them is the price of the traps alone, below which no tracer
// that probes the same instructions can get.
// The helpers' header uses the kernel's types and does not bring them.
// clang-format off
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
// clang-format on

char LICENSE[] SEC("license") = "Dual MIT/GPL";

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
