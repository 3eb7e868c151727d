/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* From the frames of a walk to the number of a stack. A stack that is known costs one look-up. */
#ifndef HAWKTRACE_INTERN_BPF_H
#define HAWKTRACE_INTERN_BPF_H

#include "bpf/arch/x86_64/call_site.h"
#include "bpf/loops.bpf.h"
#include "bpf/unwind/walk.bpf.h"

/* An entry of stack_index: the upper bits of the hash, which 20 bits of stack number leave free. Frames are not compared: two
 * stacks are taken for one, and nothing counts it, if these bits are the same and the lower ones lead to the same part of the
 * index. A search passes less than one entry of another stack on average (the index is at most a third full), so that with n
 * stacks the chance of any such pair is below n / 2^44: 7e-9 for 131,072. An index of more than 2^20 entries goes by some of
 * the upper bits as well: n / 2^42, 2.4e-7, for a million. The hash has a key that is drawn for each trace, so that this holds for
 * programs too that place their code in order to make stacks collide. */
#define HAWK_STACK_NUMBER_MASK 0xfffffull
/* Entries that are looked at for one hash. */
#define HAWK_INDEX_CHOICES 32

static __always_inline __u64 *index_entry(__u64 hash, __u32 choice)
{
	__u32 at = ((__u32)hash + choice) & settings.stack_index_mask;

	return bpf_map_lookup_elem(&stack_index, &at);
}

/* The number of the stack with this hash; HAWK_NO_STACK: it is not known. Not static: checked once by the verifier. */
__noinline int known_number(__u64 hash)
{
	for (__u32 i = 0; i < HAWK_INDEX_CHOICES; i++) {
		__u64 *entry = index_entry(hash, i);

		if (!entry || !*entry)
			break;
		if ((*entry ^ hash) <= HAWK_STACK_NUMBER_MASK)
			return *entry & HAWK_STACK_NUMBER_MASK;
	}
	return HAWK_NO_STACK;
}

/* A look through the entries of a hash for one that is free. */
struct hawk_entry_search {
	__u64 hash;
	__u64 ours;                /* the entry that is to be made */
	__u32 number;              /* that the hash has in the end */
};

static long take_entry(__u32 choice, struct hawk_entry_search *search)
{
	__u64 *entry = index_entry(search->hash, choice);

	if (!entry)
		return 1;
	__u64 found = __sync_val_compare_and_swap(entry, 0, search->ours);

	if (found && (found ^ search->hash) > HAWK_STACK_NUMBER_MASK)
		return 0;
	search->number = (found ? found : search->ours) & HAWK_STACK_NUMBER_MASK;
	return 1;
}

/* Gives `hash` its number, unless another thread was faster with the same stack: then that one's, and ours stays unused.
 * HAWK_NO_STACK: no room. */
static __noinline __u32 index_number(__u64 hash, __u32 number)
{
	struct hawk_entry_search search = {
		.hash = hash,
		.ours = (hash & ~HAWK_STACK_NUMBER_MASK) | number,
		.number = HAWK_NO_STACK,
	};

	loop_apart(HAWK_INDEX_CHOICES, take_entry, &search);
	return search.number;
}

/* Whether a call stands in front of `address`. Not static: the verifier then checks it once, and not along each of the
 * hundreds of paths that a loop over frames gives it (which is beyond its million instructions). */
__noinline int follows_call(__u64 address)
{
	__u8 code[HAWK_CALL_SITE_BYTES] = {};

	/* The call itself has run. What follows it may lie in a page that has not been needed yet. */
	if (bpf_probe_read_user(code, HAWK_CALL_SITE_BEFORE, (void *)(address - HAWK_CALL_SITE_BEFORE)))
		return 0;
	if (hawk_follows_call(code))
		return 1;
	if (bpf_probe_read_user(code + HAWK_CALL_SITE_BEFORE, HAWK_CALL_SITE_BYTES - HAWK_CALL_SITE_BEFORE, (void *)address))
		return 0;
	return hawk_is_signal_restorer(code);
}

/* A stack that is looked at frame by frame. Through bpf_loop, whose body the verifier checks once: only new stacks come here,
 * so that its calls cost nothing that counts. */
struct hawk_frame_loop {
	struct hawk_thread *thread;
	__u64 hash;
	__u64 first;               /* index into frames */
	__u32 depth;
	__u32 done;
};

static long keep_return_address(__u32 number, struct hawk_frame_loop *loop)
{
	__u64 address = loop->thread->frames[(number + 1) & (HAWK_MAX_FRAMES - 1)];

	if (number + 1 >= loop->depth || (!(address & HAWK_FRAME_INTERRUPTED) && !follows_call(address)))
		return 1;
	loop->hash = hawk_hash_frame(loop->hash, hawk_mixed(address));
	loop->done = number + 2;
	return 0;
}

/* Cuts a guessed walk where a frame is no return address, and hashes what is left, so that known stacks never pay for
 * reading code. The first frame needs no proof: the processor returned to it. Nor do frames found by rules: makecontext, for
 * one, makes return addresses that no call has left. */
static __noinline void cut_at_garbage(struct hawk_thread *thread)
{
	struct hawk_walk *walk = &thread->walk;
	struct hawk_frame_loop loop = { .thread = thread, .depth = walk->depth, .done = 1 };

	loop.hash = hawk_hash_frame(start_of_hash(thread), hawk_mixed(thread->frames[0]));
	loop_apart(HAWK_MAX_FRAMES - 1, keep_return_address, &loop);
	if (loop.done < walk->depth) {
		walk->depth = loop.done;
		walk->end = HAWK_END_NO_CALL;
	}
	walk->hash = hawk_hash_end(loop.hash, walk);
}

/* Entries of locations that are looked at for one address. One in ten thousand finds none of them free when six in ten are
 * taken (262,144 locations). */
#define HAWK_LOCATION_CHOICES 64

/* A look through the entries of an address for its own, or for one that is free. */
struct hawk_location_search {
	__u64 address;
	__u32 first;
	__u32 number;              /* of the location in the end */
};

static long take_location(__u32 choice, struct hawk_location_search *search)
{
	__u32 number = (search->first + choice) & settings.location_mask;
	__u64 *location = bpf_map_lookup_elem(&locations, &number);

	if (!location)
		return 1;
	__u64 found = *location;

	if (!found)
		found = __sync_val_compare_and_swap(location, 0, search->address);
	if (found && found != search->address)
		return 0;
	search->number = number;
	return 1;
}

/* The number of the location with this address, a new one if it has none; HAWK_NO_LOCATION: no room. Not static: checked once by the
 * verifier. */
__noinline int location_of(__u64 address)
{
	struct hawk_location_search search = {
		.address = address,
		.first = (__u32)(address * HAWK_GOLDEN_RATIO >> 32) >> settings.location_shift,
		.number = HAWK_NO_LOCATION,
	};

	loop_apart(HAWK_LOCATION_CHOICES, take_location, &search);
	return search.number;
}

static long name_location(__u32 number, struct hawk_frame_loop *loop)
{
	__u64 *frame = &loop->thread->frames[number & (HAWK_MAX_FRAMES - 1)];

	if (number >= loop->depth)
		return 1;
	__u32 location = location_of(*frame);

	if (location == HAWK_NO_LOCATION)
		return 1;
	*frame = location;
	loop->done = number + 1;
	return 0;
}

/* Puts numbers of locations where the addresses of the frames are; false: no room. Apart from storing them, so that a stack
 * for which there is none takes no frames, each time that it is met. */
static __always_inline bool name_locations(struct hawk_thread *thread, __u32 depth)
{
	struct hawk_frame_loop loop = { .thread = thread, .depth = depth };

	loop_apart(HAWK_MAX_FRAMES, name_location, &loop);
	return loop.done == depth;
}

static __always_inline struct hawk_two_frames *frames_at(__u64 number)
{
	__u32 segment = number >> HAWK_FRAME_SEGMENT_SHIFT, inside = (number & (HAWK_SEGMENT_FRAMES - 1)) >> 1;
	void *frames = bpf_map_lookup_elem(&frame_segments, &segment);

	return frames ? bpf_map_lookup_elem(frames, &inside) : NULL;
}

static long store_two_frames(__u32 pair, struct hawk_frame_loop *loop)
{
	__u32 number = 2 * pair;

	if (number >= loop->depth)
		return 1;
	struct hawk_two_frames *two = frames_at(loop->first + number);

	if (!two)
		return 1;
	two->location[0] = loop->thread->frames[number & (HAWK_MAX_FRAMES - 1)];
	/* Of an odd depth one more, which is not read. */
	two->location[1] = loop->thread->frames[(number + 1) & (HAWK_MAX_FRAMES - 1)];
	loop->done = number + 2;
	return 0;
}

/* Wakes user space if little room is left for frames, so that it makes more. */
static __noinline void ask_for_frames(__u64 used)
{
	__u64 nothing = 0;

	if (used + settings.frames_low <= state.frames_ready || __sync_val_compare_and_swap(&state.frames_asked, 0, 1))
		return;
	if (bpf_ringbuf_output(&frame_wakeups, &nothing, sizeof(nothing), BPF_RB_FORCE_WAKEUP))
		state.frames_asked = 0;
}

/* Stores the frames, whose locations have numbers; false: no room. An even number is taken for each stack, so that none shares
 * an element. */
static __noinline bool store_frames(struct hawk_thread *thread, __u32 depth, __u64 *first)
{
	struct hawk_frame_loop loop = { .thread = thread, .depth = depth };
	__u32 taken = (depth + 1) & ~1u;

	ask_for_frames(state.next_frame + taken);
	if (state.next_frame + taken > state.frames_ready)
		return false;
	loop.first = __sync_fetch_and_add(&state.next_frame, taken);
	if (loop.first + taken > state.frames_ready)
		return false;
	*first = loop.first;
	loop_apart(HAWK_MAX_FRAMES / 2, store_two_frames, &loop);
	return loop.done == taken;
}

static __noinline void note_thread_name(const struct hawk_thread *thread)
{
	const struct hawk_thread_key key = { .program = program_of(thread), .thread = thread->tid };
	char name[HAWK_THREAD_NAME_BYTES] = {};

	if (!bpf_get_current_comm(name, sizeof(name)))
		bpf_map_update_elem(&thread_names, &key, name, BPF_ANY);
}

/* Gives a stack that is not known yet its number. Frames first: when there is no room for them, no number is used up; and
 * when no number is left, no frames are, however often such a stack is met. Its addresses are gone afterwards. */
static __noinline __u32 intern_new(struct hawk_thread *thread)
{
	struct hawk_walk *walk = &thread->walk;
	__u64 first = 0;

	if (state.next_stack >= settings.max_stacks) {
		count_loss(program_of(thread), HAWK_LOSS_STACK_TABLE_FULL);
		return HAWK_NO_STACK;
	}
	if (!name_locations(thread, walk->depth) || !store_frames(thread, walk->depth, &first)) {
		count_loss(program_of(thread), HAWK_LOSS_FRAMES_FULL);
		return HAWK_NO_STACK;
	}
	__u32 number = __sync_fetch_and_add(&state.next_stack, 1);
	struct hawk_stack_record *record;

	if (number >= settings.max_stacks)
		__sync_fetch_and_sub(&state.next_stack, 1);
	record = number < settings.max_stacks ? bpf_map_lookup_elem(&stack_records, &number) : NULL;
	if (!record) {
		count_loss(program_of(thread), HAWK_LOSS_STACK_TABLE_FULL);
		return HAWK_NO_STACK;
	}
	record->first_frame = (__u32)first;
	record->thread = thread->tid;
	record->program = program_of(thread);
	record->end = walk->end;
	record->guessed = walk->is_guessed;
	record->depth = walk->depth;
	__u32 known = index_number(walk->hash, number);

	if (settings.by_thread)
		note_thread_name(thread);
	if (known == HAWK_NO_STACK)
		count_loss(program_of(thread), HAWK_LOSS_STACK_TABLE_FULL);
	else if (known == number && walk->end == HAWK_END_DEPTH)
		count_loss(program_of(thread), HAWK_LOSS_TRUNCATED_STACK);
	return known;
}

/* The number of the stack that has been walked. Not static: checked once by the verifier. */
__noinline int search_number(struct hawk_thread *thread)
{
	if (!thread)
		return HAWK_NO_STACK;
	struct hawk_walk *walk = &thread->walk;
	__u32 known = known_number(walk->hash);

	if (known == HAWK_NO_STACK && walk->is_guessed) {
		cut_at_garbage(thread);
		known = known_number(walk->hash);
	}
	return known != HAWK_NO_STACK ? known : intern_new(thread);
}

/* The same. Nearly every stack is the first that its hash leads to. */
static __always_inline __u32 stack_number(struct hawk_thread *thread)
{
	struct hawk_walk *walk = &thread->walk;

	walk->hash = hawk_hash_end(hawk_hash_of_frames(thread), walk);
	__u64 hash = walk->hash, *entry = index_entry(hash, 0);

	if (entry && (*entry ^ hash) <= HAWK_STACK_NUMBER_MASK && *entry)
		return *entry & HAWK_STACK_NUMBER_MASK;
	return search_number(thread);
}

#endif
