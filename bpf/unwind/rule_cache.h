/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The cache of rules by address: see HAWK_CACHE_TAG_BITS. Pure: compiled for the kernel and for the host's tests.
 *
 * An entry is one word, so that it is read and written whole, and says all of the address it is for: there are no locks
 * and no false hits. What programs write that have seen an old table bears the old table's generation. */
#ifndef HAWKTRACE_RULE_CACHE_H
#define HAWKTRACE_RULE_CACHE_H

#include "bpf/unwind/layout.h"

#define HAWK_CACHE_RULE_MASK ((1ull << HAWK_CACHE_RULE_BITS) - 1)

#define HAWK_CACHE_GENERATION_MASK ((1u << HAWK_CACHE_GENERATION_BITS) - 1)

/* In an entry generations repeat after 2^HAWK_CACHE_GENERATION_BITS. User space clears the cache long before; should it be
 * late, none is used: whatever was cached in a generation with the same bits, if only by a walk that took half that long, is
 * gone when they come again. */
#define HAWK_CACHE_GENERATIONS (1u << (HAWK_CACHE_GENERATION_BITS - 1))

/* Whether the cache may be used in this generation, if it was last cleared in that one. */
static inline __attribute__((always_inline)) int hawk_may_cache(__u32 generation, __u32 cleared)
{
	return generation - cleared < HAWK_CACHE_GENERATIONS;
}

/* Where an address is cached, and what is above the rule's number there. */
struct hawk_cache_slot {
	__u32 first;              /* of the two entries of its set */
	__u64 tag;
};

static inline __attribute__((always_inline)) struct hawk_cache_slot hawk_cache_slot_of(__u64 address, __u32 generation)
{
	__u64 product = address * HAWK_GOLDEN_RATIO & ((1ull << HAWK_ADDRESS_BITS) - 1);
	__u64 cached_generation = generation & HAWK_CACHE_GENERATION_MASK;
	struct hawk_cache_slot slot = {
		.first = (__u32)(product >> HAWK_CACHE_TAG_BITS) * 2,
		.tag = product << (64 - HAWK_CACHE_TAG_BITS) | cached_generation << HAWK_CACHE_RULE_BITS,
	};

	return slot;
}

/* The number of the rule for `address` if that stands first in its set, where it was put last; otherwise 0. Nothing is cached
 * in a generation whose lower bits are 0. */
static inline __attribute__((always_inline)) __u32 hawk_find_first_cached(const __u64 *cache, __u64 address, __u32 generation)
{
	struct hawk_cache_slot slot = hawk_cache_slot_of(address, generation);
	__u64 number = cache[slot.first & (2 * HAWK_CACHE_SETS - 2)] ^ slot.tag;

	return number <= HAWK_CACHE_RULE_MASK && !(address >> HAWK_ADDRESS_BITS) ? (__u32)number : 0;
}

/* The same for the second slot. */
static inline __attribute__((always_inline)) __u32 hawk_find_second_cached(const __u64 *cache, __u64 address,
									     __u32 generation)
{
	struct hawk_cache_slot slot = hawk_cache_slot_of(address, generation);
	__u64 number = cache[(slot.first & (2 * HAWK_CACHE_SETS - 2)) + 1] ^ slot.tag;

	return number <= HAWK_CACHE_RULE_MASK && !(address >> HAWK_ADDRESS_BITS) ? (__u32)number : 0;
}

/* Caches a rule in place of the older one of the two that its set has. */
static inline __attribute__((always_inline)) void hawk_cache_rule(__u64 *cache, __u64 address, __u32 generation, __u32 number)
{
	struct hawk_cache_slot slot = hawk_cache_slot_of(address, generation);
	__u64 *set = &cache[slot.first & (2 * HAWK_CACHE_SETS - 2)];

	if (!(generation & HAWK_CACHE_GENERATION_MASK) || address >> HAWK_ADDRESS_BITS)
		return;
	set[1] = set[0];
	set[0] = slot.tag | number;
}

#endif
