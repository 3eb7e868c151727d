/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Why a walk ended. Read by both worlds.
 *
 * HAWK_END(symbol, JSON name, text for the report) */
#ifndef HAWKTRACE_UNWIND_ENDS_H
#define HAWKTRACE_UNWIND_ENDS_H

#include "bpf/types.h"

#define HAWK_ENDS(HAWK_END)                                                                                     \
	HAWK_END(OUTERMOST, "outermost_frame", "the outermost frame of a thread")                               \
	HAWK_END(DEPTH, "depth_limit", "deeper than --stack-depth")                                             \
	HAWK_END(NO_CODE, "no_code", "an address at which no code is known")                                    \
	HAWK_END(NO_TABLE, "no_table", "a file without unwind tables, or whose tables had not been read yet")   \
	HAWK_END(GAP, "not_covered", "code missing from its file's unwind table")                               \
	HAWK_END(UNSUPPORTED, "unsupported_rule", "a rule of the unwind table that cannot be followed")          \
	HAWK_END(CHANGING, "mappings_changing", "mappings were being changed")                                  \
	HAWK_END(UNREADABLE, "unreadable_stack", "stack memory that could not be read")                         \
	HAWK_END(NO_PROGRESS, "no_progress", "a frame that does not lie further out than the one before")       \
	HAWK_END(NULL_RETURN, "null_return", "a return address of zero")                                        \
	HAWK_END(NO_CALL, "not_a_call", "an address that no call instruction comes before")

enum hawk_end {
#define HAWK_END_ENUM(symbol, name, text) HAWK_END_##symbol,
	HAWK_ENDS(HAWK_END_ENUM)
#undef HAWK_END_ENUM
	HAWK_END_COUNT
};

/* What a stack is worth. */
enum hawk_stack_quality {
	HAWK_STACK_COMPLETE,      /* by rules, up to the outermost frame */
	HAWK_STACK_GUESSED,       /* partly along frame pointers, which nothing proves */
	HAWK_STACK_TRUNCATED,     /* frames are missing at its outer end */
};

static inline __attribute__((always_inline)) enum hawk_stack_quality hawk_stack_quality(__u32 end, __u32 is_guessed)
{
	if (end == HAWK_END_DEPTH)
		return HAWK_STACK_TRUNCATED;
	if (is_guessed)
		return HAWK_STACK_GUESSED;
	return end == HAWK_END_OUTERMOST ? HAWK_STACK_COMPLETE : HAWK_STACK_TRUNCATED;
}

/* In a frame's address: it is no return address but that of an instruction which a signal interrupted. Addresses of user
 * space end below. */
#define HAWK_FRAME_INTERRUPTED (1ull << 63)

#endif
