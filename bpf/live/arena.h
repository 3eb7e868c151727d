/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The live table in a BPF arena: blocks by address, in pages that are added and taken away one at a time while every CPU
 * goes on using the table. Compiled for the kernel, and for the host, where tests run it on threads.
 *
 * Each bucket has a lock, held for some ten nanoseconds with preemption off. An address has a home bucket; a block that
 * finds it full goes to one of three others of the same page, and the home counts it as displaced, so that only then a
 * look-up goes on. Several locks are taken in ascending order. A step of growth holds every lock of
 * one set of pages (geometry.h) and publishes the new geometry before it lets go: the holder of a lock that finds the
 * geometry as it was when the page was computed is in the right place.
 *
 * What each of the two worlds provides (arena.bpf.h, tests/unit/bpf/host_arena.h): __arena, hawk_arena_page(number),
 * hawk_header(), hawk_has_arena(), hawk_cpu(), hawk_preempt_disable/enable(), hawk_kernel_preempts() and
 * hawk_count_at(address) (alone.h), hawk_relax() while a lock is waited for, hawk_unlock(lock),
 * hawk_publish(word, value), hawk_program_of_stack(stack), hawk_program_lives(program), hawk_program_gone(program), the opposite, nonzero without a branch, hawk_spill(address, slot, program) for a block that a step of growth finds no room for, and
 * HAWK_REPEAT(count, callback, context), which calls callback(number, context) for number = 0 to count - 1 until one
 * returns nonzero. */
#ifndef HAWKTRACE_LIVE_ARENA_H
#define HAWKTRACE_LIVE_ARENA_H

#include "bpf/live/buckets.h"
#include "bpf/live/alone.h"
#include "bpf/live/fetch.h"
#include "bpf/live/requests.h"
#include "bpf/live/resize.h"
#include "bpf/live/sweep.h"

#endif
