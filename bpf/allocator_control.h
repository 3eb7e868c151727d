/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Which of jemalloc's controls (mallctl) hand out or take back blocks. Pure: compiled for the kernel and for the host's tests.
 *
 * arena.<i>.reset and arena.<i>.destroy free all blocks of an arena, experimental.batch_alloc fills an array with blocks. All
 * others ask or set something.
 *
 * Programs may have a name turned into numbers once (mallctlnametomib) and use these from then on (mallctlbymib): one for each part
 * of the name, where it stands in jemalloc's tables; of an arena its index. */
#ifndef HAWKTRACE_ALLOCATOR_CONTROL_H
#define HAWKTRACE_ALLOCATOR_CONTROL_H

#include "bpf/types.h"

/* "arena.4294967295.destroy" and "experimental.batch_alloc", each with its NUL. */
#define HAWK_CONTROL_NAME_BYTES 32

/* Whether `name` says `word` from `at` on. */
static inline __attribute__((always_inline)) int hawk_says(const char *name, __u32 at, const char *word, __u32 bytes)
{
	for (__u32 i = 0; i < bytes; i++) {
		if (name[(at + i) & (HAWK_CONTROL_NAME_BYTES - 1)] != word[i])
			return 0;
	}
	return 1;
}

/* Behind this no ".destroy" fits into HAWK_CONTROL_NAME_BYTES. */
#define HAWK_CONTROL_INDEX_END (HAWK_CONTROL_NAME_BYTES - 9)

/* `name`: HAWK_CONTROL_NAME_BYTES of it, NUL-terminated within. An index may have any number of zeros before it; what cannot be seen then
 * is taken for one that does. */
static inline __attribute__((always_inline)) int hawk_moves_blocks(const char *name)
{
	__u32 at = 6;

	if (hawk_says(name, 0, "experimental.batch_alloc", 25))
		return 1;
	if (!hawk_says(name, 0, "arena.", 6))
		return 0;
	while (at <= HAWK_CONTROL_INDEX_END && name[at & (HAWK_CONTROL_NAME_BYTES - 1)] >= '0' &&
	       name[at & (HAWK_CONTROL_NAME_BYTES - 1)] <= '9')
		at++;
	return at > HAWK_CONTROL_INDEX_END || hawk_says(name, at, ".reset", 7) || hawk_says(name, at, ".destroy", 9);
}

/* "arena", the index and "reset". */
#define HAWK_CONTROL_NUMBERS 3

/* Up to 4.5, of 5.0, and since 5.1 the root of the tables has had "arena" at 6, 7 and 8, and there 5.0 put more before "reset". */
static inline __attribute__((always_inline)) int hawk_is_end_of_arena(__u64 root, __u64 control)
{
	if (root == 6)
		return control == 2;
	return (root == 7 || root == 8) && (control == 3 || control == 4);
}

/* `numbers`: the first HAWK_CONTROL_NUMBERS of `count`. */
static inline __attribute__((always_inline)) int hawk_numbers_move_blocks(const __u64 *numbers, __u64 count)
{
	if (count == 3)
		return hawk_is_end_of_arena(numbers[0], numbers[2]);
	/* "experimental" of 5.3, and of what follows it. */
	return count == 2 && (numbers[0] == 12 || numbers[0] == 13) && numbers[1] == 5;
}

#endif
