/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Every way in which hawktrace can fail to account for something, one counter each. A run whose counters are all zero
 * is exact. Read by both worlds.
 *
 * HAWK_LOSS(symbol, json_name, what is not right then: NUMBERS, the STACKS alone, or what CHILDREN had; text for the report, with
 * {singular|plural} where it depends on the number) */
#ifndef HAWKTRACE_LOSSES_H
#define HAWKTRACE_LOSSES_H

#define HAWK_LOSSES(HAWK_LOSS)                                                                                          \
	HAWK_LOSS(LIVE_TABLE_FULL, "live_table_full", NUMBERS, "allocation{|s} not kept: the live table is full")                  \
	HAWK_LOSS(LIVE_TABLE_ERROR, "live_table_error", NUMBERS, "allocation{|s} not kept: the kernel refused the insertion")      \
	HAWK_LOSS(UNSETTLED_FREE, "unsettled_frees", NUMBERS, "free{|s} not counted: the live table stayed locked")                \
	HAWK_LOSS(LIVE_OVERWRITTEN, "live_overwritten", NUMBERS, "block{|s} whose free was not seen: the address was handed out again") \
	HAWK_LOSS(STACK_TABLE_FULL, "stack_table_full", STACKS, "allocation{|s} counted without a stack: the stack table is full") \
	HAWK_LOSS(FRAMES_FULL, "frames_full", STACKS, "allocation{|s} counted without a stack: the storage for frames is full")    \
	HAWK_LOSS(THREAD_STATE, "thread_state", NUMBERS, "call{|s} not followed: no memory for the state of the thread")           \
	HAWK_LOSS(ABANDONED_CALL, "abandoned_calls", NUMBERS, "allocator call{|s} that never returned (longjmp, thread killed)")   \
	HAWK_LOSS(HIDDEN_CALL, "hidden_calls", NUMBERS, "call{|s} not counted: made inside {another|others}, perhaps by the program, perhaps by the allocator") \
	HAWK_LOSS(COUNTED_TWICE, "counted_twice", NUMBERS, "block{|s} counted twice: one allocator asked another for {it|them}, through other code") \
	HAWK_LOSS(EARLY_FREE, "early_frees", NUMBERS, "block{|s} freed by another thread before posix_memalign had returned") \
	HAWK_LOSS(LOST_CALL, "lost_calls", NUMBERS, "allocator call{|s} lost sight of, inside {another|others} of the same thread") \
	HAWK_LOSS(UNSEEN_SHARER, "unseen_sharers", NUMBERS, "process{|es} that {shares|share} the target's memory and called its allocator unseen") \
	HAWK_LOSS(UNREADABLE_RESULT, "unreadable_result", NUMBERS, "allocation{|s} not kept: the result could not be read")        \
	HAWK_LOSS(TRUNCATED_STACK, "truncated_stacks", STACKS, "stack{|s} cut at the depth limit (--stack-depth)")                 \
	HAWK_LOSS(FUNCTION_NOT_PROBED, "functions_not_probed", NUMBERS, "allocator function{|s} that could not be probed")         \
	HAWK_LOSS(UNFOLLOWED_CALL, "unfollowed_calls", NUMBERS, "call{|s} of allocator functions that are not followed")           \
	HAWK_LOSS(LATE_ALLOCATOR, "late_allocators", NUMBERS, "allocator{|s} mapped during the trace, probed a moment later")      \
	HAWK_LOSS(MISSING_BREAKPOINT, "missing_breakpoints", NUMBERS, "probed instruction{|s} without a breakpoint in the process's memory") \
	HAWK_LOSS(INTERCEPTED_CALL, "intercepted_calls", NUMBERS, "call{|s} not followed: the process's system calls are intercepted") \
	HAWK_LOSS(NO_ALLOCATOR, "no_allocator", NUMBERS, "program{|s} in which no allocator was found")                            \
	HAWK_LOSS(ENDED_EARLY, "ended_early", NUMBERS, "trace{|s} that hawktrace had to end early: what came later was not seen")    \
	HAWK_LOSS(PASSED_OVER, "passed_over", NUMBERS, "event{|s} (a thread's end, a fork, an exec or a mapping) for which the kernel ran no program of hawktrace") \
	HAWK_LOSS(PREEMPTED, "preempted", NUMBERS, "update{|s} of the counters by {a thread|threads} that the kernel preempted meanwhile: it was switched to preempt itself") \
	HAWK_LOSS(REGION_EVENT, "region_events", NUMBERS, "change{|s} of mappings not followed: hawktrace could not keep up")          \
	HAWK_LOSS(UNTRACED_CHILD, "untraced_children", CHILDREN, "child process{|es} not traced")

enum hawk_loss {
#define HAWK_LOSS_ENUM(symbol, name, promise, text) HAWK_LOSS_##symbol,
	HAWK_LOSSES(HAWK_LOSS_ENUM)
#undef HAWK_LOSS_ENUM
	HAWK_LOSS_COUNT
};

#endif
