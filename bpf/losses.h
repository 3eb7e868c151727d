/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Every way in which hawktrace can fail to account for something, one counter each. A run whose counters are all zero
 * is exact. Read by both worlds.
 *
 * HAWK_LOSS(symbol, json_name, text for the report) */
#ifndef HAWKTRACE_LOSSES_H
#define HAWKTRACE_LOSSES_H

#define HAWK_LOSSES(HAWK_LOSS)                                                                                          \
	HAWK_LOSS(LIVE_TABLE_FULL, "live_table_full", "allocations not kept: the live table is full")                       \
	HAWK_LOSS(LIVE_TABLE_ERROR, "live_table_error", "allocations not kept: the kernel refused the insertion")           \
	HAWK_LOSS(UNSETTLED_FREE, "unsettled_frees", "frees not booked: the live table stayed locked")                         \
	HAWK_LOSS(LIVE_OVERWRITTEN, "live_overwritten", "blocks whose free was not seen: their address was handed out again") \
	HAWK_LOSS(STACK_TABLE_FULL, "stack_table_full", "allocations booked without a stack: the stack table is full")      \
	HAWK_LOSS(FRAMES_FULL, "frames_full", "allocations booked without a stack: the storage for frames is full")         \
	HAWK_LOSS(THREAD_STATE, "thread_state", "calls not followed: no memory for the thread's state")                     \
	HAWK_LOSS(ABANDONED_CALL, "abandoned_calls", "allocator calls that never returned (longjmp, thread killed)")        \
	HAWK_LOSS(HIDDEN_CALL, "hidden_calls", "calls not booked: made inside others, perhaps by the program, perhaps by the allocator") \
	HAWK_LOSS(LOST_CALL, "lost_calls", "allocator calls lost sight of, inside others of their thread")                     \
	HAWK_LOSS(UNSEEN_SHARER, "unseen_sharers", "processes that share the target's memory and called its allocator unseen")  \
	HAWK_LOSS(UNREADABLE_RESULT, "unreadable_result", "allocations not kept: the result could not be read")             \
	HAWK_LOSS(TRUNCATED_STACK, "truncated_stacks", "stacks cut at the depth limit (--stack-depth)")                     \
	HAWK_LOSS(FUNCTION_NOT_PROBED, "functions_not_probed", "allocator functions that could not be probed")              \
	HAWK_LOSS(UNFOLLOWED_CALL, "unfollowed_calls", "calls of allocator functions that are not followed")                \
	HAWK_LOSS(LATE_ALLOCATOR, "late_allocators", "allocators mapped during the trace, probed a moment later")           \
	HAWK_LOSS(MISSING_BREAKPOINT, "missing_breakpoints", "probed instructions without a breakpoint in the process's memory") \
	HAWK_LOSS(INTERCEPTED_CALL, "intercepted_calls", "calls not followed: somebody intercepts the process's system calls") \
	HAWK_LOSS(NO_ALLOCATOR, "no_allocator", "programs in which no allocator was found")

enum hawk_loss {
#define HAWK_LOSS_ENUM(symbol, name, text) HAWK_LOSS_##symbol,
	HAWK_LOSSES(HAWK_LOSS_ENUM)
#undef HAWK_LOSS_ENUM
	HAWK_LOSS_COUNT
};

#endif
