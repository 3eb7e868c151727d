/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The live table in a BPF arena: blocks by address, in pages that are added and taken away one at a time while every CPU
 * goes on using the table. Compiled for the kernel, and for the host, where tests run it on threads.
 *
 * Each bucket has a lock, held for some ten nanoseconds with preemption off. An address has a home bucket; a block that
 * finds it full goes to one of three others of the same page, and the home counts it as displaced, so that only then a
 * look-up goes on. Whoever needs more than one lock takes them in ascending order. A step of growth holds every lock of
 * one set of pages (live_geometry.h) and publishes the new geometry before it lets go: whoever holds a lock and finds the
 * geometry as it was when the page was computed is in the right place.
 *
 * What each of the two worlds provides (live_arena.bpf.h, tests/unit/bpf): __arena, hawk_arena_page(number),
 * hawk_header(), hawk_cpu(), hawk_preempt_disable/enable(), hawk_relax() while a lock is waited for, hawk_unlock(lock), hawk_publish(word, value),
 * hawk_spill(address, slot) for a block that a step of growth finds no room for, and HAWK_REPEAT(count, callback,
 * context), which calls callback(number, context) for number = 0 to count - 1 until one returns nonzero. */
#ifndef HAWKTRACE_LIVE_ARENA_H
#define HAWKTRACE_LIVE_ARENA_H

#include "bpf/arena_layout.h"
#include "bpf/live_bucket.h"
#include "bpf/live_geometry.h"

/* A CPU looks whether growth is due once in so many of its insertions: fewer than one step makes room for (192). */
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

#define HAWK_INLINE static inline __attribute__((always_inline))
#define hawk_load(p) (*(volatile __typeof__(*(p)) *)(p))

typedef struct hawk_bucket __arena *hawk_bucket_ref;
typedef struct hawk_live_page __arena *hawk_page_ref;

/* ----------------------------------------------------------------------------------------------------------- locks */

HAWK_INLINE int hawk_try_lock(__u32 __arena *lock)
{
	return hawk_load(lock) == 0 && __sync_val_compare_and_swap(lock, 0, 1) == 0;
}

/* 1: taken, 0: not. For callbacks that count their locks: the verifier, which would follow every value of the count, must
 * not know the outcome; and must see a bound of the count that does not move, for which they mask it. */
HAWK_INLINE __u32 hawk_take_lock(__u32 __arena *lock)
{
	__u32 was = __sync_val_compare_and_swap(lock, 0, 1);

	if (was)
		hawk_relax();
	return 1 - (was & 1);
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

#pragma GCC unroll 10
	for (__u32 i = 0; i < HAWK_BUCKET_SLOTS; i++)
		slots |= (__u32)(((__u64)bucket->low[i] - 1) >> 63) << i;
	return slots;
}

/* Forgets the blocks of a program that the process has replaced since. */
static __attribute__((noinline)) int hawk_forget_blocks(hawk_bucket_ref bucket, __u32 epoch)
{
	__u32 taken = ~hawk_free_slots(bucket);

	for (int i = 0; i < HAWK_BUCKET_SLOTS; i++) {
		hawk_own_population()->blocks -= taken >> i & 1;
		bucket->low[i] = 0;
	}
	bucket->displaced = 0;
	bucket->epoch = (__u16)epoch;
	return 0;
}

HAWK_INLINE void hawk_use_bucket(hawk_bucket_ref bucket, __u32 epoch)
{
	if (bucket->epoch != (__u16)epoch)
		hawk_forget_blocks(bucket, epoch);
}

/* Bit i: slot i holds the address of `slot`. Without branches, for the verifier follows each of them, and because the
 * processor could not predict them. */
HAWK_INLINE __u32 hawk_slots_of(hawk_bucket_ref bucket, const struct hawk_slot *slot)
{
	__u32 slots = 0;

#pragma GCC unroll 10
	for (__u32 i = 0; i < HAWK_BUCKET_SLOTS; i++) {
		__u64 difference = (bucket->low[i] ^ slot->low) |
				   (bucket->high_and_stack[i] ^ slot->high_and_stack) >> HAWK_SLOT_STACK_BITS;

		slots |= (__u32)((difference - 1) >> 63) << i;
	}
	return slots;
}

/* The number of the lowest bit that is set, of sixteen. BPF has no instruction for it: a de Bruijn sequence gives each bit
 * four leading bits of its own, under which the second constant has the bit's number. */
HAWK_INLINE __u32 hawk_lowest(__u32 bits)
{
	__u32 leading = ((bits & -bits) * 0x09af & 0xffff) >> 12;

	return (__u32)(0xcd7ea84fb6935210ull >> leading * 4) & 15;
}

HAWK_INLINE void hawk_get(hawk_bucket_ref bucket, __u32 at, struct hawk_slot *slot)
{
	slot->low = bucket->low[at];
	slot->size_bytes = bucket->size_bytes[at];
	slot->high_and_stack = bucket->high_and_stack[at];
}

HAWK_INLINE void hawk_put(hawk_bucket_ref bucket, __u32 at, const struct hawk_slot *slot)
{
	bucket->low[at] = slot->low;
	bucket->size_bytes[at] = slot->size_bytes;
	bucket->high_and_stack[at] = slot->high_and_stack;
}

/* ----------------------------------------------------------------------------------------------------- one operation */

/* An insertion or a take on its way through the table. */
struct hawk_request {
	__u64 hash;
	struct hawk_slot slot;     /* in; of a take only the address counts */
	struct hawk_slot found;    /* out: the block that is, or was, in the table */
	__u32 epoch;
	__u32 is_take;
	__u32 result;              /* enum hawk_insertion, or for a take whether it was found */
	__u32 again;               /* the geometry has changed meanwhile */
	__u32 growth_check;        /* out, of an insertion: it is time to see whether growth is due */
};

HAWK_INLINE hawk_page_ref hawk_page_at(__u64 hash, __u64 geometry)
{
	return hawk_arena_page(hawk_page_number(hash, hawk_geometry_unpack(geometry)));
}

/* A request that needs all the buckets of its address. */
struct hawk_choices {
	hawk_page_ref page;
	struct hawk_request *request;
	hawk_bucket_ref bucket;    /* that holds the address, or that has room */
	__u32 locked;              /* of the buckets, in their order */
};

HAWK_INLINE hawk_bucket_ref hawk_choice(const struct hawk_choices *choices, __u32 number)
{
	return &choices->page->buckets[hawk_bucket_choice(choices->request->hash, number)];
}

/* Tries to lock the next of them; all of them are locked after enough of that. */
static long hawk_lock_choice(__u32 attempt, void *context)
{
	struct hawk_choices *choices = (struct hawk_choices *)context;

	(void)attempt;
	choices->locked = (choices->locked + hawk_take_lock(&hawk_choice(choices, choices->locked)->lock)) & 7;
	return choices->locked == HAWK_BUCKET_CHOICES;
}

static long hawk_unlock_choice(__u32 number, void *context)
{
	hawk_unlock(&hawk_choice((struct hawk_choices *)context, number)->lock);
	return 0;
}

static long hawk_find_in_choice(__u32 number, void *context)
{
	struct hawk_choices *choices = (struct hawk_choices *)context;
	hawk_bucket_ref bucket = hawk_choice(choices, number);

	hawk_use_bucket(bucket, choices->request->epoch);
	if (!hawk_slots_of(bucket, &choices->request->slot))
		return 0;
	choices->bucket = bucket;
	return 1;
}

static long hawk_find_room_in_choice(__u32 number, void *context)
{
	struct hawk_choices *choices = (struct hawk_choices *)context;
	hawk_bucket_ref bucket = hawk_choice(choices, number);

	if (!hawk_free_slots(bucket))
		return 0;
	choices->bucket = bucket;
	return 1;
}

/* Puts a block that is in none of them into one of the buckets. False: they are full. */
HAWK_INLINE int hawk_put_in_choices(struct hawk_choices *choices, hawk_bucket_ref home)
{
	choices->bucket = home;
	if (!hawk_free_slots(home)) {
		choices->bucket = (hawk_bucket_ref)0;
		HAWK_REPEAT(HAWK_BUCKET_CHOICES, hawk_find_room_in_choice, choices);
		if (!choices->bucket)
			return 0;
		home->displaced++;
	}
	hawk_put(choices->bucket, hawk_lowest(hawk_free_slots(choices->bucket)), &choices->request->slot);
	return 1;
}

HAWK_INLINE void hawk_do_in_choices(struct hawk_choices *choices)
{
	struct hawk_request *request = choices->request;
	hawk_bucket_ref home = &choices->page->buckets[hawk_home_bucket(request->hash)];
	__u32 at = 0;

	HAWK_REPEAT(HAWK_BUCKET_CHOICES, hawk_find_in_choice, choices);
	if (choices->bucket) {
		at = hawk_lowest(hawk_slots_of(choices->bucket, &request->slot));
		hawk_get(choices->bucket, at, &request->found);
	}
	if (request->is_take) {
		request->result = !!choices->bucket;
		if (!choices->bucket)
			return;
		choices->bucket->low[at] = 0;
		home->displaced -= choices->bucket != home;
		hawk_own_population()->blocks--;
	} else if (choices->bucket) {
		hawk_put(choices->bucket, at, &request->slot);
		request->result = HAWK_REPLACED;
	} else if (hawk_put_in_choices(choices, home)) {
		request->growth_check = hawk_count_insertion();
		request->result = HAWK_INSERTED;
	} else {
		request->result = HAWK_NO_ROOM;
	}
}

/* One attempt with all locks of the address; returns whether it settled the request. */
static long hawk_attempt_in_choices(__u32 attempt, void *context)
{
	struct hawk_request *request = (struct hawk_request *)context;
	struct hawk_arena_header __arena *header = hawk_header();
	__u64 geometry = hawk_load(&header->geometry);
	struct hawk_choices choices = {};

	(void)attempt;
	choices.page = hawk_page_at(request->hash, geometry);
	choices.request = request;
	request->again = 0;
	hawk_preempt_disable();
	HAWK_REPEAT(HAWK_LOCK_ATTEMPTS, hawk_lock_choice, &choices);
	if (choices.locked == HAWK_BUCKET_CHOICES) {
		request->again = hawk_load(&header->geometry) != geometry;
		if (!request->again)
			hawk_do_in_choices(&choices);
	}
	HAWK_REPEAT(choices.locked, hawk_unlock_choice, &choices);
	hawk_preempt_enable();
	return !request->again;
}

/* The long way. Not static: the verifier then checks it once, and not after each path that leads here. */
__attribute__((noinline)) int hawk_do_slowly(struct hawk_request *request)
{
	struct hawk_request own;

	if (!request)
		return 0;
	own = *request; /* what a callback gets must be on the stack */
	own.result = own.is_take ? 0 : HAWK_LOCK_TIMEOUT;
	HAWK_REPEAT(HAWK_LOCK_ATTEMPTS, hawk_attempt_in_choices, &own);
	*request = own;
	return 0;
}

/* Tries to settle the request in its home bucket, which is locked. False: the other buckets matter too. */
HAWK_INLINE int hawk_do_at_home(hawk_bucket_ref home, struct hawk_request *request)
{
	__u32 slots;

	hawk_use_bucket(home, request->epoch);
	slots = hawk_slots_of(home, &request->slot);
	if (request->is_take) {
		if (!slots)
			return !home->displaced;
		slots = hawk_lowest(slots);
		hawk_get(home, slots, &request->found);
		home->low[slots] = 0;
		hawk_own_population()->blocks--;
		request->result = 1;
		return 1;
	}
	if (slots || home->displaced)
		return 0;
	slots = hawk_free_slots(home);
	if (!slots)
		return 0;
	hawk_put(home, hawk_lowest(slots), &request->slot);
	request->growth_check = hawk_count_insertion();
	request->result = HAWK_INSERTED;
	return 1;
}

/* The short way, which settles nearly every request: in the home bucket, with preemption off. False: hawk_do_slowly is to
 * be called, with preemption on. */
HAWK_INLINE int hawk_do_at_once(struct hawk_request *request)
{
	struct hawk_arena_header __arena *header = hawk_header();
	__u64 geometry = hawk_load(&header->geometry);
	hawk_bucket_ref home = &hawk_page_at(request->hash, geometry)->buckets[hawk_home_bucket(request->hash)];
	int settled = 0;

	if (!hawk_lock(&home->lock))
		return 0;
	if (hawk_load(&header->geometry) == geometry)
		settled = hawk_do_at_home(home, request);
	hawk_unlock(&home->lock);
	return settled;
}

/* ------------------------------------------------------------------------------------------------- growth and shrinking */

/* One step: a set of pages gets or loses one. */
struct hawk_step {
	__u32 sets_log2;
	__u32 set;
	__u32 pages_before;
	__u32 pages_after;
	__u32 epoch;
};

HAWK_INLINE hawk_page_ref hawk_set_page(const struct hawk_step *step, __u32 place)
{
	return hawk_arena_page(hawk_page_of_set(step->set, place, step->sets_log2));
}

HAWK_INLINE hawk_bucket_ref hawk_set_bucket(const struct hawk_step *step, __u32 number)
{
	return &hawk_set_page(step, number / HAWK_PAGE_BUCKETS)->buckets[number % HAWK_PAGE_BUCKETS];
}

/* Tries to lock the next bucket of the set. How many are locked stands in the arena, because of a count on the stack the
 * verifier would follow every value. */
static long hawk_lock_in_set(__u32 attempt, void *context)
{
	struct hawk_step *step = (struct hawk_step *)context;
	struct hawk_arena_header __arena *header = hawk_header();
	__u32 locked = header->buckets_locked;

	(void)attempt;
	locked += hawk_take_lock(&hawk_set_bucket(step, locked)->lock);
	header->buckets_locked = locked;
	return locked == step->pages_before * HAWK_PAGE_BUCKETS;
}

static long hawk_use_in_set(__u32 number, void *context)
{
	struct hawk_step *step = (struct hawk_step *)context;

	hawk_use_bucket(hawk_set_bucket(step, number), step->epoch);
	return 0;
}

static long hawk_unlock_in_set(__u32 number, void *context)
{
	struct hawk_step *step = (struct hawk_step *)context;

	hawk_unlock(&hawk_set_bucket(step, number)->lock);
	return 0;
}

/* Blocks of one bucket that are to be in another page of the set now. */
struct hawk_moves {
	struct hawk_step *step;
	hawk_page_ref page;        /* where they are */
	hawk_bucket_ref bucket;
	__u32 slots;               /* bit i: slot i */
};

static long hawk_move_one(__u32 number, void *context)
{
	struct hawk_moves *moves = (struct hawk_moves *)context;
	struct hawk_request request = {};
	struct hawk_choices to = {};
	__u32 at = hawk_lowest(moves->slots);

	(void)number;
	if (!moves->slots)
		return 1;
	moves->slots &= moves->slots - 1;
	hawk_get(moves->bucket, at, &request.slot);
	moves->bucket->low[at] = 0;
	request.hash = hawk_live_hash(hawk_slot_address(request.slot.low, request.slot.high_and_stack));
	hawk_bucket_ref home = &moves->page->buckets[hawk_home_bucket(request.hash)];

	home->displaced -= home != moves->bucket;
	to.request = &request;
	to.page = hawk_set_page(moves->step,
				hawk_place_in_set(request.hash, moves->step->sets_log2, moves->step->pages_after));
	if (!hawk_put_in_choices(&to, &to.page->buckets[hawk_home_bucket(request.hash)])) {
		hawk_own_population()->blocks--;
		hawk_spill(hawk_slot_address(request.slot.low, request.slot.high_and_stack), &request.slot);
	}
	return 0;
}

static long hawk_empty_misplaced(__u32 number, void *context)
{
	struct hawk_step *step = (struct hawk_step *)context;
	struct hawk_moves moves = {};

	/* From the end that gets free, so that there is room for what moves. */
	if (step->pages_after > step->pages_before)
		number = step->pages_before * HAWK_PAGE_BUCKETS - 1 - number;
	__u32 place = number / HAWK_PAGE_BUCKETS;

	moves.step = step;
	moves.page = hawk_set_page(step, place);
	moves.bucket = &moves.page->buckets[number % HAWK_PAGE_BUCKETS];
	if (hawk_free_slots(moves.bucket) == HAWK_ALL_SLOTS)
		return 0;
	for (__u32 i = 0; i < HAWK_BUCKET_SLOTS; i++) {
		__u64 hash = hawk_live_hash(hawk_slot_address(moves.bucket->low[i], moves.bucket->high_and_stack[i]));
		__u64 elsewhere = hawk_place_in_set(hash, step->sets_log2, step->pages_after) ^ place;
		__u64 stays = (elsewhere - 1) >> 63, is_free = ((__u64)moves.bucket->low[i] - 1) >> 63;

		moves.slots |= (__u32)(~(stays | is_free) & 1) << i;
	}
	HAWK_REPEAT(HAWK_BUCKET_SLOTS, hawk_move_one, &moves);
	return 0;
}

/* Sets the epoch of a page that nobody uses yet. */
static long hawk_start_bucket(__u32 number, void *context)
{
	struct hawk_step *step = (struct hawk_step *)context;

	hawk_set_bucket(step, step->pages_before * HAWK_PAGE_BUCKETS + number)->epoch = (__u16)step->epoch;
	return 0;
}

HAWK_INLINE struct hawk_step hawk_step_of(struct hawk_geometry g, __u32 epoch)
{
	struct hawk_step step = {};

	step.sets_log2 = g.sets_log2;
	step.set = g.next;
	step.epoch = epoch;
	return step;
}

/* Makes the step and publishes `geometry`. Whoever calls holds header->growing. False: nothing was changed. */
HAWK_INLINE int hawk_make_step(struct hawk_step *step, struct hawk_geometry geometry)
{
	struct hawk_arena_header __arena *header = hawk_header();
	__u32 buckets = step->pages_before * HAWK_PAGE_BUCKETS;
	int all_locked;

	hawk_preempt_disable();
	header->buckets_locked = 0;
	HAWK_REPEAT(HAWK_LOCK_ATTEMPTS, hawk_lock_in_set, step);
	all_locked = header->buckets_locked == buckets;
	if (all_locked) {
		/* New pages are zero: in epoch 0 no bucket can be of another one. */
		if (step->epoch && step->pages_after > step->pages_before)
			HAWK_REPEAT(HAWK_PAGE_BUCKETS, hawk_start_bucket, step);
		if (step->epoch)
			HAWK_REPEAT(buckets, hawk_use_in_set, step);
		HAWK_REPEAT(buckets, hawk_empty_misplaced, step);
		hawk_publish(&header->geometry, hawk_geometry_pack(geometry));
	}
	HAWK_REPEAT(header->buckets_locked, hawk_unlock_in_set, step);
	hawk_preempt_enable();
	return all_locked;
}

static long hawk_add_population(__u32 cpu, void *context)
{
	*(__s64 *)context += hawk_load(&hawk_header()->population[cpu & (HAWK_MAX_CPUS - 1)].blocks);
	return 0;
}

/* Whether `pages` pages with `blocks` blocks are fuller than `percent`. */
HAWK_INLINE int hawk_fuller_than(__s64 blocks, __u32 pages, __u32 percent)
{
	return blocks * 100 > (__s64)pages * HAWK_PAGE_SLOTS * percent;
}

HAWK_INLINE int hawk_grow(__s64 blocks, __u32 epoch)
{
	struct hawk_arena_header __arena *header = hawk_header();
	struct hawk_geometry g = hawk_geometry_unpack(hawk_load(&header->geometry));
	__u32 pages = hawk_geometry_pages(g);
	struct hawk_step step = hawk_step_of(g, epoch);

	if (!hawk_fuller_than(blocks, pages, HAWK_FULL_PERCENT))
		return 0;
	if (pages >= hawk_load(&header->pages_ready)) {
		header->short_of_pages = 1;
		return 0;
	}
	step.pages_before = g.set_pages;
	step.pages_after = g.set_pages + 1;
	return hawk_make_step(&step, hawk_geometry_grown(g));
}

HAWK_INLINE int hawk_shrink(__s64 blocks, __u32 epoch)
{
	struct hawk_geometry g = hawk_geometry_unpack(hawk_load(&hawk_header()->geometry));
	__u32 pages = hawk_geometry_pages(g);
	struct hawk_geometry less = hawk_geometry_shrunk(g);
	struct hawk_step step = hawk_step_of(less, epoch);

	if (pages <= hawk_geometry_pages(hawk_geometry_start()) || hawk_fuller_than(blocks, pages, HAWK_SPARSE_PERCENT))
		return 0;
	step.pages_before = less.set_pages + 1;
	step.pages_after = less.set_pages;
	return hawk_make_step(&step, less);
}

/* Makes a step of growth or of shrinking if one is due. Returns whether it did. */
HAWK_INLINE int hawk_resize(__u32 epoch, int grow)
{
	struct hawk_arena_header __arena *header = hawk_header();
	__s64 blocks = 0;
	int stepped;

	if (!hawk_try_lock(&header->growing))
		return 0;
	HAWK_REPEAT(header->cpus, hawk_add_population, &blocks);
	stepped = grow ? hawk_grow(blocks, epoch) : hawk_shrink(blocks, epoch);
	hawk_unlock(&header->growing);
	return stepped;
}

/* ------------------------------------------------------------------------------------------------------------ requests */

/* To put a block in: HAWK_REPLACED if the address was there, and `found` is what it was. `growth_check`: whether hawk_resize
 * is to be called now. */
HAWK_INLINE struct hawk_request hawk_insertion_of(__u64 address, const struct hawk_block *block, __u32 epoch)
{
	struct hawk_request request = {};

	request.hash = hawk_live_hash(address);
	request.slot = hawk_slot_pack(address, block);
	request.epoch = epoch;
	return request;
}

/* To remove the block at `address`: result is whether it was there, and `found` what it was. */
HAWK_INLINE struct hawk_request hawk_take_of(__u64 address, __u32 epoch)
{
	struct hawk_block none = {};
	struct hawk_request request = hawk_insertion_of(address, &none, epoch);

	request.is_take = 1;
	return request;
}

HAWK_INLINE struct hawk_block hawk_slot_block(const struct hawk_slot *slot)
{
	struct hawk_block block = {};

	block.size_bytes = slot->size_bytes;
	block.stack = slot->high_and_stack & HAWK_SLOT_STACK_MASK;
	return block;
}

#endif
