/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The 64-bit identity of a stack. Pure: compiled for the kernel and for the host's tests.
 *
 * Each frame's address is first made a number that cannot be foreseen, with a key that user space draws anew for each trace; so no
 * program can place its code in order to make stacks collide. That takes three multiplications, and a walk does it once for each
 * step that it learns (hawk_known_step.mixed). What it does for every frame is one multiplication of what it has so far and that
 * number; and one more at the end, which spreads what distinguishes two stacks over all bits. With n stacks the chance that any two
 * collide is n^2 / 2^65: 3e-10 for 100,000. */
#ifndef HAWKTRACE_STACK_HASH_H
#define HAWKTRACE_STACK_HASH_H

#include "bpf/types.h"
#include "bpf/unwind/ends.h"

/* Drawn by user space. */
struct hawk_hash_key {
	__u64 addend;
	__u64 multiplier;         /* odd */
};

/* What distinguishes a frame that was interrupted from one that is returned to right behind the same instruction. */
#define HAWK_HASH_INTERRUPTED 0x2545F4914F6CDD1Dull

/* What stands for a frame in hashes: the finalizer of splitmix64, behind a first round that is secret. As a walk sees it, which
 * looks one byte further on to an address that was interrupted; where it has gone over that, it has marked its hash. */
static inline __attribute__((always_inline)) __u64 hawk_mix_frame(__u64 addend, __u64 multiplier, __u64 frame)
{
	__u64 is_interrupted = frame >> 63, number = (frame & ~HAWK_FRAME_INTERRUPTED) + is_interrupted;
	__u64 is_last = number >> 63; /* there is nothing behind the last address: it is no other frame's either */
	__u64 mixed = ((number & ~HAWK_FRAME_INTERRUPTED) + is_last + addend) * multiplier;

	mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9ull;
	mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBull;
	return mixed ^ mixed >> 31 ^ (is_interrupted ^ is_last) * HAWK_HASH_INTERRUPTED;
}

/* Where hashes of a program's stacks begin; the upper half of the number may be that of a thread. */
static inline __attribute__((always_inline)) __u64 hawk_hash_start(__u64 program)
{
	return (program + 1ull) * HAWK_GOLDEN_RATIO;
}

/* `mixed`: the frame, by hawk_mix_frame. */
static inline __attribute__((always_inline)) __u64 hawk_hash_frame(__u64 hash, __u64 mixed)
{
	return (hash ^ mixed) * HAWK_GOLDEN_RATIO;
}

/* What the frames' hash is in the end. */
static inline __attribute__((always_inline)) __u64 hawk_hash_finish(__u64 hash)
{
	hash = (hash ^ hash >> 32) * 0xD6E8FEB86659FD93ull;
	return hash ^ hash >> 32;
}

#endif
