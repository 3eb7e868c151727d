// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Programs that return at once. What a pair costs under them is the price of the traps alone, below which no tracer
// that probes the same instructions can get.
// The helpers' header uses the kernel's types and does not bring them.
// clang-format off
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
// clang-format on

char LICENSE[] SEC("license") = "Dual MIT/GPL";

// Both halves of a session: 0 at the entry asks for the return.
SEC("uprobe")
int session_floor(void* ctx) { return 0; }

// An entry, a return or a free.
SEC("uprobe")
int probe_floor(void* ctx) { return 0; }
