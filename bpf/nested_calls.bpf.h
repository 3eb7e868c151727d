/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Whether a call that begins while another of its thread is open is a part of that, or the program's own: from a hook, a
 * signal handler, a coroutine.
 *
 * Seen by the frames between the two, walked from the entry outwards to the open call's return slot:
 *
 *     code of no allocator's file, a signal's frame      the program's
 *     the slot lies inside a frame                       the open call was left, and its stack is in use again
 *     the outermost frame comes, and not the slot        the program's, on another stack
 *     code of allocators' files alone; or no way on      not to be distinguished
 *
 * A file with an allocator has other code too: libc has strdup, an executable may have all of the program. So what cannot be
 * distinguished is kept as an open call, which is not counted when it returns. Its block must then be the one, or hold the one, that the
 * outer call gives to the program, as with a calloc that asks malloc, or an allocator that puts headers before its blocks.
 * If not, it may be the program's, and is counted as hidden.
 *
 * The other way round, a library that is no allocator's may stand between an allocator and the one below it. The inner call was counted
 * then, and the outer one, when it returns what lies in that block, will be as well: it is counted. */
#ifndef HAWKTRACE_NESTED_CALLS_BPF_H
#define HAWKTRACE_NESTED_CALLS_BPF_H

/* A look through the ranges of a target's allocators. */
struct hawk_range_search {
	__u64 address;
	__u32 program;
	__u32 found;
};

static long look_at_allocator_range(__u32 number, struct hawk_range_search *search)
{
	const struct hawk_target *target = target_at(search->program);

	if (number >= HAWK_MAX_ALLOCATOR_RANGES || number >= target->files.allocator_range_count)
		return 1;
	search->found = search->address >= target->files.allocator_ranges[number].start &&
			search->address < target->files.allocator_ranges[number].end;
	return search->found;
}

/* Whether `address` lies in a file that may call an allocator from inside one; true as long as not all are known. Not static:
 * checked once by the verifier. */
__noinline int in_allocator_file(__u32 program, __u64 address)
{
	struct hawk_range_search search = { .address = address, .program = program };
	const struct hawk_target *target = target_at(program);

	if (!target->files.allocator_range_count)
		return true;
	bpf_loop(HAWK_MAX_ALLOCATOR_RANGES, look_at_allocator_range, &search, 0);
	return search.found;
}

/* What an entry is to the newest open call. */
enum hawk_relation {
	HAWK_MAY_BE_NESTED,
	HAWK_IS_PROGRAMS,
	HAWK_OPEN_CALL_LEFT,
};

/* Frames between an entry and an open call that are looked at. */
#define HAWK_NESTED_FRAMES 64

static __always_inline bool is_interrupted(const struct hawk_thread *thread)
{
	return hawk_last_frame(thread) & HAWK_FRAME_INTERRUPTED;
}

/* Whether the last frame is none of an allocator's. In place of its return address may be the trampoline: the next step then
 * replaces that. */
static __always_inline bool is_programs_frame(const struct hawk_thread *thread)
{
	if (is_interrupted(thread))
		return true;
	return hawk_last_frame(thread) != trampoline_address() && !in_allocator_file(program_of(thread), hawk_last_frame(thread));
}

/* What a walk that has ended short of the open call says. */
static __always_inline enum hawk_relation relation_at_end(const struct hawk_walk *walk)
{
	return walk->end == HAWK_END_OUTERMOST && !walk->is_guessed ? HAWK_IS_PROGRAMS : HAWK_MAY_BE_NESTED;
}

/* Begins a walk at an entry, where the return address is at `sp`. Through windows: it is rare, and this way is always there. */
static __always_inline bool begin_at_entry(struct hawk_thread *thread, __u64 sp, __u64 fp)
{
	__u32 generation = settings.unwind == HAWK_UNWIND_FP ? 0 : hawk_rule_generation(thread);
	__u64 pc = 0;

	if (bpf_probe_read_user(&pc, sizeof(pc), (void *)sp))
		return false;
	thread->reads_directly = 0;
	thread->view.page = HAWK_NO_VIEW;
	thread->window_bytes = 0;
	hawk_begin_walk(thread, 0, pc, sp + 8, fp, generation);
	return true;
}

/* One step of the walk from an entry to the newest call; what it has shown, or HAWK_GO_ON. Not static: checked once by the
 * verifier. */
#define HAWK_GO_ON (-1)
__noinline int step_to_newest(struct hawk_thread *thread)
{
	if (!thread)
		return HAWK_MAY_BE_NESTED;
	struct hawk_walk *walk = &thread->walk;
	__u64 slot = thread->call.sp, before = walk->sp;

	if (before == slot + 8)
		return HAWK_MAY_BE_NESTED;
	if (is_programs_frame(thread))
		return HAWK_IS_PROGRAMS;
	if (settings.unwind == HAWK_UNWIND_FP)
		return HAWK_MAY_BE_NESTED;
	if (!hawk_step_otherwise(thread))
		return relation_at_end(walk);
	if (walk->is_guessed)
		return HAWK_MAY_BE_NESTED;
	/* A signal's frame leads to any stack. */
	if (before <= slot && walk->sp > slot + 8 && !is_interrupted(thread))
		return HAWK_OPEN_CALL_LEFT;
	return HAWK_GO_ON;
}

/* enum hawk_relation of an entry at `sp`, where rbp is `fp`, to the newest call. Not static: checked once by the verifier. */
__noinline int relation_to_newest(struct hawk_thread *thread, __u64 sp, __u64 fp)
{
	int shown = HAWK_GO_ON;

	if (!thread || !begin_at_entry(thread, sp, fp))
		return HAWK_MAY_BE_NESTED;
	for (int i = 0; shown == HAWK_GO_ON && i < HAWK_NESTED_FRAMES; i++)
		shown = step_to_newest(thread);
	return shown == HAWK_GO_ON ? HAWK_MAY_BE_NESTED : shown;
}

/* Counts one of the calls that began in `call`, at once. */
static __always_inline void count_hidden(struct hawk_call *call)
{
	count_loss(call->program, HAWK_LOSS_HIDDEN_CALL);
	if (!call->nested)
		return;
	call->nested--;
	count_freed_apart(reserved_number(call->program, HAWK_NESTED), 0, 1);
}

/* A call that may be nested has given `address` to the call that it is in. */
static __always_inline void give_to_outer(struct hawk_thread *thread, const struct hawk_call *inner, __u64 address)
{
	struct hawk_call *outer = &thread->call;

	if (!address || inner->kind == HAWK_CALL_XALLOCX)
		return;
	/* The outer one was left, or has another such block already. */
	if (!outer->sp || (outer->inner_address && outer->inner_address != inner->old_address))
		count_hidden(outer);
	outer->inner_address = address;
	outer->inner_bytes = inner->size_bytes;
}

/* The program was given a block while the newest call is open. Not static: checked once by the verifier. */
__noinline int note_block_inside(struct hawk_thread *thread, __u64 address, __u64 size_bytes)
{
	if (!thread)
		return 0;
	__u32 at = thread->call.blocks_inside & (HAWK_BLOCKS_INSIDE - 1);

	thread->blocks_inside[at].start = address;
	thread->blocks_inside[at].end = address + (size_bytes ? size_bytes : 1);
	/* Counted up to all of them, and on from there so that the next takes the oldest one's place. */
	thread->call.blocks_inside = at + 1 + (thread->call.blocks_inside >= HAWK_BLOCKS_INSIDE ? HAWK_BLOCKS_INSIDE : 0);
	return 0;
}

/* Whether a block has not been freed. Not static: checked once by the verifier. */
__noinline int is_live(__u32 program, __u64 address)
{
	struct hawk_block block = {};

	if (live_take_slowly(program, address, &block) != HAWK_TAKEN)
		return 0;
	if (!live_put_back(address, &block))
		count_freed_apart(block.stack, block.size_bytes, 1);
	return 1;
}

/* The newest call returns `address`, and the program was given blocks since it began. */
static __always_inline void look_for_block_inside(struct hawk_thread *thread, __u64 address)
{
	for (__u32 i = 0; i < HAWK_BLOCKS_INSIDE && i < thread->call.blocks_inside; i++) {
		const struct hawk_range *block = &thread->blocks_inside[i];

		if (address >= block->start && address < block->end && is_live(program_of(thread), block->start))
			count_loss(program_of(thread), HAWK_LOSS_COUNTED_TWICE);
	}
	thread->call.blocks_inside = 0;
}

/* The newest call returns `address`; it had calls in it that may be nested, or may be nested itself. Returns whether it is to be
 * counted; if not, it is closed. Not static: checked once by the verifier. */
__noinline int end_nested(struct hawk_thread *thread, __u64 address)
{
	if (!thread)
		return 0;
	struct hawk_call *call = &thread->call;

	if (call->blocks_inside)
		look_for_block_inside(thread, address);
	if (call->inner_address && address - call->inner_address >= (call->inner_bytes ? call->inner_bytes : 1))
		count_loss(call->program, HAWK_LOSS_HIDDEN_CALL);
	call->inner_address = 0;
	if (!call->may_be_nested)
		return 1;
	struct hawk_call inner = *call;

	call->may_be_nested = 0;
	call->sp = 0;
	resume_call(thread);
	give_to_outer(thread, &inner, address);
	return 0;
}

#endif
