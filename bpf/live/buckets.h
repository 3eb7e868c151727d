/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Locks and slots of the arena's buckets: what one CPU does while it has a bucket to itself. arena.h describes all of it. */
#ifndef HAWKTRACE_LIVE_BUCKETS_H
#define HAWKTRACE_LIVE_BUCKETS_H

#include "bpf/live/arena_layout.h"
#include "bpf/live/bucket.h"
#include "bpf/live/geometry.h"

/* A CPU looks whether growth is due once in so many of its insertions: fewer than one step makes room for (167). */
#define HAWK_GROWTH_CHECK_EVERY 128
/* Attempts at a lock, some nanoseconds each. Only a virtual CPU that is not scheduled holds one so long. */
#ifndef HAWK_LOCK_ATTEMPTS
#define HAWK_LOCK_ATTEMPTS (1u << 22)
#endif

/* What became of an insertion. */
enum hawk_insertion {
	HAWK_INSERTED,
	HAWK_REPLACED,             /* the address was there already: what was there is handed out */
	HAWK_NO_ROOM,              /* all buckets of this address are full */
	HAWK_LOCK_TIMEOUT,
};

/* What became of a take. */
enum hawk_taking {
	HAWK_NOT_THERE,
	HAWK_TAKEN = HAWK_REPLACED, /* as after an insertion: what was there is handed out */
	HAWK_TAKE_TIMEOUT,          /* it is not known whether it is there */
};

#define HAWK_INLINE static inline __attribute__((always_inline))
#define hawk_load(p) (*(volatile __typeof__(*(p)) *)(p))

typedef struct hawk_bucket __arena *hawk_bucket_ref;

/* Functions that are not static are checked once by the verifier, but while preemption is off they may be called only if
 * hawk_calls_global(): so there are some in two kinds, of which one is never reached. What they are given are numbers. */
HAWK_INLINE __u64 hawk_address_of_bucket(hawk_bucket_ref bucket)
{
	return (__u64)bucket;
}

HAWK_INLINE hawk_bucket_ref hawk_bucket_at(__u64 address)
{
	return (hawk_bucket_ref)address;
}
typedef struct hawk_live_page __arena *hawk_page_ref;

/* ----------------------------------------------------------------------------------------------------------- locks */

/* A lock is a bit in the first byte of a word; the processor has nothing smaller to exchange that BPF knows of. Who has the lock may
 * write the other bytes, so that to exchange the word fails, and is tried again, where these have changed since they were read. */

HAWK_INLINE __u32 __arena *hawk_lock_of(hawk_bucket_ref bucket)
{
	return (__u32 __arena *)(void __arena *)bucket;
}

HAWK_INLINE int hawk_try_lock(__u32 __arena *lock)
{
	__u32 seen = hawk_load(lock);

	return !(seen & HAWK_LOCKED) && __sync_val_compare_and_swap(lock, seen, seen | HAWK_LOCKED) == seen;
}

/* 1: taken, 0: not. For callbacks that count their locks: the verifier, which would follow every value of the count, must
 * not know the outcome; and must see a bound of the count that does not move, for which they mask it. */
HAWK_INLINE __u32 hawk_take_lock(__u32 __arena *lock)
{
	__u32 expected = hawk_load(lock) & ~HAWK_LOCKED;
	__u32 difference = __sync_val_compare_and_swap(lock, expected, expected | HAWK_LOCKED) ^ expected;

	if (difference)
		hawk_relax();
	return (__u32)(((__u64)difference - 1) >> 63);
}

struct hawk_lock_wait {
	__u32 __arena *lock;
	int taken;
};

static long hawk_lock_attempt(__u32 attempt, void *context)
{
	(void)attempt;
	struct hawk_lock_wait *wait = (struct hawk_lock_wait *)context;

	wait->taken = hawk_try_lock(wait->lock);
	if (!wait->taken)
		hawk_relax();
	return wait->taken;
}

static __attribute__((noinline)) int hawk_wait_for_lock(__u32 __arena *lock)
{
	struct hawk_lock_wait wait = { .lock = lock, .taken = 0 };

	HAWK_REPEAT(HAWK_LOCK_ATTEMPTS, hawk_lock_attempt, &wait);
	return wait.taken;
}

/* False: not to be had. Preemption must be off. */
HAWK_INLINE int hawk_lock(__u32 __arena *lock)
{
	return hawk_try_lock(lock) || hawk_wait_for_lock(lock);
}

/* --------------------------------------------------------------------------------------------------------- buckets */

#define HAWK_WORDS_IN_CACHE_LINE (HAWK_CACHE_LINE_BYTES / sizeof(__u64))

/* Begins to fetch `count` of them, next to each other, into the caches. By loads, of which the processor can have more under way than of
 * stores. */
HAWK_INLINE void hawk_fetch_buckets(hawk_bucket_ref first, __u32 count)
{
	const volatile __u64 __arena *words = (const volatile __u64 __arena *)first;

#ifdef __clang__
#pragma clang loop unroll(disable)
#endif
	for (__u32 word = 0; word < count * sizeof(*first) / sizeof(*words); word += HAWK_WORDS_IN_CACHE_LINE)
		(void)words[word];
}

/* For who has its lock. */
HAWK_INLINE __u32 hawk_displaced(hawk_bucket_ref bucket)
{
	return bucket->lock_and_displaced & HAWK_DISPLACED_MASK;
}

HAWK_INLINE void hawk_count_displaced(hawk_bucket_ref bucket, int change)
{
	bucket->lock_and_displaced += change;
}

HAWK_INLINE struct hawk_cpu_population __arena *hawk_own_population(void)
{
	return &hawk_header()->population[hawk_cpu() & (HAWK_MAX_CPUS - 1)];
}

/* Counts an insertion. Returns whether it is time for this CPU to see if growth is due. */
HAWK_INLINE int hawk_count_insertion(void)
{
	struct hawk_cpu_population __arena *own = hawk_own_population();

	own->blocks++;
	return ++own->insertions % HAWK_GROWTH_CHECK_EVERY == 0;
}

#define HAWK_ALL_SLOTS ((1u << HAWK_BUCKET_SLOTS) - 1)

/* Bit i: slot i is free. */
HAWK_INLINE __u32 hawk_free_slots(hawk_bucket_ref bucket)
{
	__u32 slots = 0;

#pragma GCC unroll 9
	for (__u32 i = 0; i < HAWK_BUCKET_SLOTS; i++)
		slots |= (__u32)(((__u64)bucket->low[i] - 1) >> 63) << i;
	return slots;
}

/* Bit i: slot i holds an address with these lower bits, hardly ever of another block than is looked for. Without branches, for
 * the verifier follows each of them, and because the processor could not predict them. */
HAWK_INLINE __u32 hawk_slots_with_low(hawk_bucket_ref bucket, __u32 low)
{
	__u32 slots = 0;

#pragma GCC unroll 9
	for (__u32 i = 0; i < HAWK_BUCKET_SLOTS; i++)
		slots |= (__u32)(((__u64)(bucket->low[i] ^ low) - 1) >> 63) << i;
	return slots;
}

/* Whether there is such a slot. */
HAWK_INLINE int hawk_has_low(hawk_bucket_ref bucket, __u32 low)
{
	__u64 found = 0;

#pragma GCC unroll 9
	for (__u32 i = 0; i < HAWK_BUCKET_SLOTS; i++)
		found |= (__u64)(bucket->low[i] ^ low) - 1;
	return (int)(found >> 63);
}

/* The number of the lowest bit that is set, of sixteen. BPF has no instruction for it: a de Bruijn sequence gives each bit
 * four leading bits of its own, under which the second constant has the bit's number. */
HAWK_INLINE __u32 hawk_lowest(__u32 bits)
{
	__u32 leading = ((bits & -bits) * 0x09af & 0xffff) >> 12;

	return (__u32)(0xcd7ea84fb6935210ull >> leading * 4) & 15;
}

/* The program whose block is in a slot. */
HAWK_INLINE __u32 hawk_slot_program(__u32 high_and_stack)
{
	return hawk_program_of_stack(high_and_stack & HAWK_SLOT_STACK_MASK);
}

/* A look through the slots that hold an address with these lower bits, of whichever program. */
struct hawk_block_search {
	hawk_bucket_ref bucket;
	__u32 high_and_stack;      /* the upper bits of the address */
	__u32 program;             /* whose block is looked for */
	__u32 slots;               /* that are not looked at yet */
	__u32 found;               /* the bit of the slot */
};

static long hawk_compare_program(__u32 attempt, void *context)
{
	struct hawk_block_search *search = (struct hawk_block_search *)context;
	__u32 lowest = search->slots & -search->slots;

	(void)attempt;
	if (!lowest)
		return 1;
	search->slots ^= lowest;
	__u32 high_and_stack = search->bucket->high_and_stack[hawk_lowest(lowest)];

	if ((high_and_stack ^ search->high_and_stack) >> HAWK_SLOT_STACK_BITS ||
	    hawk_slot_program(high_and_stack) != search->program)
		return 0;
	search->found = lowest;
	return 1;
}

HAWK_INLINE __u32 hawk_search_slots(hawk_bucket_ref bucket, __u32 low, __u32 high_and_stack, __u32 program)
{
	struct hawk_block_search search = {
		.bucket = bucket,
		.high_and_stack = high_and_stack,
		.program = program,
		.slots = hawk_slots_with_low(bucket, low),
		.found = 0,
	};

	HAWK_REPEAT(HAWK_BUCKET_SLOTS, hawk_compare_program, &search);
	return search.found;
}

static __attribute__((noinline)) __u32 hawk_search_block_here(hawk_bucket_ref bucket, __u32 low, __u32 high_and_stack, __u32 program)
{
	return hawk_search_slots(bucket, low, high_and_stack, program);
}

__attribute__((noinline)) __u32 hawk_search_block_once(__u64 bucket, __u32 low, __u32 high_and_stack, __u32 program)
{
	return hawk_has_arena() ? hawk_search_slots(hawk_bucket_at(bucket), low, high_and_stack, program) : 0;
}

/* Bit i, of one i at most: slot i holds this address of this program. */
HAWK_INLINE __u32 hawk_search_block(hawk_bucket_ref bucket, __u32 low, __u32 high_and_stack, __u32 program)
{
	if (hawk_calls_global())
		return hawk_search_block_once(hawk_address_of_bucket(bucket), low, high_and_stack, program);
	return hawk_search_block_here(bucket, low, high_and_stack, program);
}

HAWK_INLINE void hawk_get(hawk_bucket_ref bucket, __u32 at, struct hawk_slot *slot)
{
	slot->low = bucket->low[at];
	slot->size_bytes = hawk_size_of_pair(bucket->size_and_born[at]);
	slot->high_and_stack = bucket->high_and_stack[at];
	slot->born = hawk_born_of_pair(bucket->size_and_born[at], bucket->born_high[at]);
}

HAWK_INLINE void hawk_put(hawk_bucket_ref bucket, __u32 at, const struct hawk_slot *slot)
{
	bucket->low[at] = slot->low;
	bucket->size_and_born[at] = slot->size_bytes | slot->born << HAWK_SLOT_SIZE_BITS;
	bucket->born_high[at] = (__u16)(slot->born >> HAWK_SLOT_BORN_BITS);
	bucket->high_and_stack[at] = slot->high_and_stack;
}

#endif
