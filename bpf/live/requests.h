/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* One insertion or removal in the arena's live table, from the page to the slot. arena.h describes all of it. */
#ifndef HAWKTRACE_LIVE_REQUESTS_H
#define HAWKTRACE_LIVE_REQUESTS_H

#include "bpf/live/buckets.h"

/* An insertion or a take on its way through the table. */
struct hawk_request {
	__u64 hash;
	struct hawk_slot slot;     /* in; of a take only the address counts */
	struct hawk_slot found;    /* out: the block that is, or was, in the table */
	__u32 program;             /* whose block it is */
	__u32 is_take;
	__u32 result;              /* enum hawk_insertion, or enum hawk_taking */
	__u32 again;               /* the geometry has changed meanwhile */
	__u32 growth_check;        /* out, of an insertion: it is time to see whether growth is due */
};

HAWK_INLINE hawk_page_ref hawk_page_at(__u64 hash, __u64 geometry)
{
	return hawk_arena_page(hawk_page_number(hash, hawk_geometry_unpack(geometry)));
}

/* Where an address belongs while the geometry is this one. */
struct hawk_home {
	__u64 hash;
	__u64 geometry;
	hawk_bucket_ref bucket;
};

HAWK_INLINE struct hawk_home hawk_home_of(__u64 hash)
{
	const __u64 geometry = hawk_load(&hawk_header()->geometry);
	struct hawk_home home = {
		.hash = hash,
		.geometry = geometry,
		.bucket = &hawk_page_at(hash, geometry)->buckets[hawk_home_bucket(hash)],
	};

	return home;
}

/* Begins to fetch the bucket for a request that is to come: of a large table it is in no cache. By a store, for which the processor does
 * not wait, as it does with a load before it can complete what comes behind. What is in the bucket's other line is written too, and not
 * read, when a block is put in. */
HAWK_INLINE void hawk_fetch_home(const struct hawk_home *home)
{
	*(volatile __u8 __arena *)&home->bucket->touched = 0;
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
	choices->locked = (choices->locked + hawk_take_lock(hawk_lock_of(hawk_choice(choices, choices->locked)))) & 7;
	return choices->locked == HAWK_BUCKET_CHOICES;
}

static long hawk_unlock_choice(__u32 number, void *context)
{
	hawk_unlock(hawk_lock_of(hawk_choice((struct hawk_choices *)context, number)));
	return 0;
}

HAWK_INLINE __u32 hawk_search_in(hawk_bucket_ref bucket, const struct hawk_request *request)
{
	return hawk_search_block(bucket, request->slot.low, request->slot.high_and_stack, request->program);
}

/* Finds the bucket that holds the block; no function of its own, of which there can only be so many within one another. */
HAWK_INLINE void hawk_find_in_choices(struct hawk_choices *choices)
{
#ifdef __clang__
#pragma clang loop unroll(disable)
#endif
	for (__u32 number = 0; number < HAWK_BUCKET_CHOICES && !choices->bucket; number++) {
		hawk_bucket_ref bucket = hawk_choice(choices, number);

		if (hawk_search_in(bucket, choices->request))
			choices->bucket = bucket;
	}
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
		hawk_count_displaced(home, 1);
	}
	hawk_put(choices->bucket, hawk_lowest(hawk_free_slots(choices->bucket)), &choices->request->slot);
	return 1;
}

HAWK_INLINE void hawk_do_in_choices(struct hawk_choices *choices)
{
	struct hawk_request *request = choices->request;
	hawk_bucket_ref home = &choices->page->buckets[hawk_home_bucket(request->hash)];
	__u32 at = 0;

	hawk_find_in_choices(choices);
	if (choices->bucket) {
		at = hawk_lowest(hawk_search_in(choices->bucket, request));
		hawk_get(choices->bucket, at, &request->found);
	}
	if (request->is_take) {
		request->result = choices->bucket ? HAWK_TAKEN : HAWK_NOT_THERE;
		if (!choices->bucket)
			return;
		choices->bucket->low[at] = 0;
		hawk_count_displaced(home, -(choices->bucket != home));
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

/* One attempt with all locks of the address; returns whether it settled the request. Not static: the verifier then checks it once, and
 * not in each round. */
__attribute__((noinline)) int hawk_attempt_in_choices(struct hawk_request *request)
{
	/* Being checked on its own, it must say itself that it is not for kernels without arenas. */
	if (!request || !hawk_has_arena())
		return 1;
	struct hawk_arena_header __arena *header = hawk_header();
	__u64 geometry = hawk_load(&header->geometry);
	struct hawk_choices choices = {};

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

static long hawk_attempt_again(__u32 attempt, void *context)
{
	int is_settled = hawk_attempt_in_choices((struct hawk_request *)context);

	(void)attempt;
	/* Or clang, which has seen that function, leaves the bound out that the verifier wants to see. */
	__asm__ volatile("" : "+r"(is_settled));
	return is_settled & 1;
}

/* The long way. */
HAWK_INLINE void hawk_do_slowly(struct hawk_request *request)
{
	request->result = request->is_take ? (__u32)HAWK_TAKE_TIMEOUT : (__u32)HAWK_LOCK_TIMEOUT;
	HAWK_REPEAT(HAWK_LOCK_ATTEMPTS, hawk_attempt_again, request);
}

/* Whether what is in a slot, whose address has the lower bits that are looked for, is the block of the request: it is handed out then. */
HAWK_INLINE int hawk_is_asked_for(hawk_bucket_ref bucket, __u32 at, struct hawk_request *request)
{
	hawk_get(bucket, at, &request->found);
	return !((request->found.high_and_stack ^ request->slot.high_and_stack) >> HAWK_SLOT_STACK_BITS) &&
	       hawk_slot_program(request->found.high_and_stack) == request->program;
}

/* Takes a block out of a bucket that is locked, if it is in the first slot with these lower bits. */
HAWK_INLINE int hawk_take_first(hawk_bucket_ref bucket, __u32 slots, struct hawk_request *request)
{
	const __u32 at = hawk_lowest(slots);

	if (!slots || !hawk_is_asked_for(bucket, at, request))
		return 0;
	bucket->low[at] = 0;
	hawk_own_population()->blocks--;
	request->result = HAWK_TAKEN;
	return 1;
}

HAWK_INLINE __u32 hawk_look_in_choices(hawk_bucket_ref home, __u64 hash, __u32 low)
{
	hawk_bucket_ref first = home - hawk_home_bucket(hash);
	__u32 found = 0;

#ifdef __clang__
#pragma clang loop unroll(disable)
#endif
	for (__u32 choice = 0; choice < HAWK_BUCKET_CHOICES; choice++)
		found |= hawk_has_low(first + hawk_bucket_choice(hash, choice), low) << choice;
	return found;
}

static __attribute__((noinline)) __u32 hawk_choices_with_low_here(hawk_bucket_ref home, __u64 hash, __u32 low)
{
	return hawk_look_in_choices(home, hash, low);
}

__attribute__((noinline)) __u32 hawk_choices_with_low_once(__u64 home, __u64 hash, __u32 low)
{
	return hawk_has_arena() ? hawk_look_in_choices(hawk_bucket_at(home), hash, low) : 0;
}

/* Bit i: choice i of the buckets has a block with these lower bits. Of the home, which is locked, no block comes or goes meanwhile, and those
 * of others do not matter. Without branches, as hawk_slots_with_low. */
HAWK_INLINE __u32 hawk_choices_with_low(hawk_bucket_ref home, __u64 hash, __u32 low)
{
	if (hawk_calls_global())
		return hawk_choices_with_low_once(hawk_address_of_bucket(home), hash, low);
	return hawk_choices_with_low_here(home, hash, low);
}

/* Takes a block that is not in its home bucket, which is locked, out of the one where it is, if that is to be had at once: locks are waited
 * for in ascending order alone. */
HAWK_INLINE int hawk_take_beside(hawk_bucket_ref home, struct hawk_request *request)
{
	__u32 choices = hawk_choices_with_low(home, request->hash, request->slot.low);
	hawk_bucket_ref bucket = home - hawk_home_bucket(request->hash) + hawk_bucket_choice(request->hash, hawk_lowest(choices));
	int taken;

	if (!choices)
		return 1; /* as the result says already: not there */
	if (!hawk_try_lock(hawk_lock_of(bucket)))
		return 0;
	taken = hawk_take_first(bucket, hawk_slots_with_low(bucket, request->slot.low), request);
	hawk_unlock(hawk_lock_of(bucket));
	if (taken)
		hawk_count_displaced(home, -1);
	return taken;
}

/* Tries to take the block whose home bucket is locked. False: another bucket is locked too, or there is another block with the same lower
 * bits, or of another program. */
HAWK_INLINE int hawk_take_at_home(hawk_bucket_ref home, struct hawk_request *request)
{
	__u32 slots = hawk_slots_with_low(home, request->slot.low);

	if (slots)
		return hawk_take_first(home, slots, request);
	return !hawk_displaced(home) || hawk_take_beside(home, request);
}

HAWK_INLINE int hawk_insert_in_choices(hawk_bucket_ref home, struct hawk_request *request)
{
	hawk_bucket_ref first = home - hawk_home_bucket(request->hash);

#ifdef __clang__
#pragma clang loop unroll(disable)
#endif
	for (__u32 choice = 0; choice < HAWK_BUCKET_CHOICES; choice++) {
		hawk_bucket_ref bucket = first + hawk_bucket_choice(request->hash, choice);

		if (!hawk_free_slots(bucket) || !hawk_try_lock(hawk_lock_of(bucket)))
			continue;
		__u32 slots = hawk_free_slots(bucket);

		if (slots)
			hawk_put(bucket, hawk_lowest(slots), &request->slot);
		hawk_unlock(hawk_lock_of(bucket));
		if (!slots)
			continue;
		hawk_count_displaced(home, 1);
		return 1;
	}
	return 0;
}

static __attribute__((noinline)) int hawk_insert_beside_here(hawk_bucket_ref home, struct hawk_request *request)
{
	return hawk_insert_in_choices(home, request);
}

__attribute__((noinline)) int hawk_insert_beside_once(__u64 home, struct hawk_request *request)
{
	return request && hawk_has_arena() && hawk_insert_in_choices(hawk_bucket_at(home), request);
}

/* Puts a block whose home, which is locked, is full into another bucket, if one is to be had at once: locks are waited for in ascending
 * order alone. */
HAWK_INLINE int hawk_insert_beside(hawk_bucket_ref home, struct hawk_request *request)
{
	if (hawk_calls_global())
		return hawk_insert_beside_once(hawk_address_of_bucket(home), request);
	return hawk_insert_beside_here(home, request);
}

/* The same, to put one in. */
HAWK_INLINE int hawk_insert_at_home(hawk_bucket_ref home, struct hawk_request *request)
{
	__u32 slots = hawk_free_slots(home);

	if (hawk_has_low(home, request->slot.low) ||
	    (hawk_displaced(home) && hawk_choices_with_low(home, request->hash, request->slot.low)))
		return 0;
	if (slots)
		hawk_put(home, hawk_lowest(slots), &request->slot);
	else if (!hawk_insert_beside(home, request))
		return 0;
	request->growth_check = hawk_count_insertion();
	request->result = HAWK_INSERTED;
	return 1;
}

HAWK_INLINE int hawk_do_at_home(hawk_bucket_ref home, struct hawk_request *request)
{
	return request->is_take ? hawk_take_at_home(home, request) : hawk_insert_at_home(home, request);
}

/* The short way, which settles nearly every request: in the home bucket, with preemption off. False: hawk_do_slowly is to
 * be called, with preemption on. */
HAWK_INLINE int hawk_do_at_once(struct hawk_request *request, const struct hawk_home *home)
{
	int settled = 0;

	/* What is taken is read from the bucket's other line, which the processor can fetch at the same time as the first. */
	if (request->is_take)
		(void)hawk_load(&home->bucket->size_and_born[HAWK_BUCKET_SLOTS - 1]);
	if (!hawk_lock(hawk_lock_of(home->bucket)))
		return 0;
	if (hawk_load(&hawk_header()->geometry) == home->geometry)
		settled = hawk_do_at_home(home->bucket, request);
	hawk_unlock(hawk_lock_of(home->bucket));
	return settled;
}

/* To put a block in, whose address has this hash in its program: HAWK_REPLACED if the address was there, and `found` is what it was. `growth_check`: whether hawk_resize
 * is to be called now. */
HAWK_INLINE struct hawk_request hawk_insertion_of(__u64 hash, __u64 address, const struct hawk_block *block)
{
	struct hawk_request request = {};

	request.hash = hash;
	request.slot = hawk_slot_pack(address, block);
	request.program = block->program;
	return request;
}

/* To remove the block at `address` of this program: `found` is what it was, if it was there. */
HAWK_INLINE struct hawk_request hawk_take_of(__u64 address, __u32 program)
{
	struct hawk_block none = {};

	none.program = program;
	struct hawk_request request = hawk_insertion_of(hawk_live_hash(address, program), address, &none);

	request.is_take = 1;
	return request;
}

/* A block of this program. */
HAWK_INLINE struct hawk_block hawk_slot_block(const struct hawk_slot *slot, __u32 program)
{
	struct hawk_block block = {};

	block.size_bytes = slot->size_bytes;
	block.stack = slot->high_and_stack & HAWK_SLOT_STACK_MASK;
	block.program = program;
	block.born = slot->born;
	return block;
}

#endif
