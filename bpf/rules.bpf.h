/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* From an address of code to the number of its rule: through the cache, or by searching (unwind_layout.h). */
#ifndef HAWKTRACE_RULES_BPF_H
#define HAWKTRACE_RULES_BPF_H

#include "bpf/mappings.bpf.h"
#include "bpf/unwind_cache.h"

/* The first step of a binary search that is enough: half of what it may have to search. */
#define HAWK_RANGE_SEARCH_STEP (HAWK_MAX_CODE_RANGES / 2)

/* 1 if a < b, otherwise 0; both below 2^63. Without a branch, of which the verifier would follow both ways in every round of
 * a search, and learn a little more of the numbers each time, so that no two ways are ever alike to it. */
static __always_inline __u64 is_less(__u64 a, __u64 b)
{
	__u64 less = a - b;

	/* Or clang makes comparisons of it, and masks, for whose two values the verifier forks as well. */
	__asm__ volatile("" : "+r"(less));
	less >>= 63;
	__asm__ volatile("" : "+r"(less));
	return less;
}

static __always_inline const struct hawk_rule *hawk_rule_at(__u32 number)
{
	return &unwind_rules[number & (HAWK_MAX_RULES - 1)];
}

static __always_inline __u32 hawk_cached_rule(__u64 address, __u32 generation)
{
	if (settings.unwind == HAWK_UNWIND_FP)
		return HAWK_RULE_FRAME_POINTER;
	return hawk_find_first_cached(unwind_cache, address, generation);
}

/* `index`, as the verifier of 6.1 wants to see it bounded: right before it is used. */
static __always_inline __u64 range_index(__u64 index)
{
	__asm__ volatile("" : "+r"(index));
	return index & (2 * HAWK_MAX_CODE_RANGES - 1);
}

/* Index of the range in which `address` lies, of the half that `ranges` says; HAWK_NO_RANGE: none. */
#define HAWK_NO_RANGE (~0u)
static __always_inline __u32 find_range(__u64 ranges, __u64 address)
{
	__u32 first = ranges & HAWK_RANGES_HALF ? HAWK_MAX_CODE_RANGES : 0;
	__u64 count = (__u32)ranges >> HAWK_RANGES_COUNT_SHIFT, passed = 0;

	/* How many end at or below the address. */
#pragma clang loop unroll(disable)
	for (__u32 step = HAWK_RANGE_SEARCH_STEP; step; step >>= 1) {
		__u64 last = range_index(first + passed + step - 1);
		__u64 stays = is_less(address, code_ranges[last].end) | is_less(count, passed + step);

		passed = (passed + step * (stays ^ 1)) & (HAWK_MAX_CODE_RANGES - 1);
	}
	__u64 index = range_index(first + passed);

	if (is_less(passed, count) && !is_less(address, code_ranges[index].start) && is_less(address, code_ranges[index].end))
		return index;
	return HAWK_NO_RANGE;
}

static __always_inline const struct hawk_row *row_at(__u32 number)
{
	__u32 segment = number >> HAWK_SEGMENT_SHIFT, inside = number & (HAWK_SEGMENT_ROWS - 1);
	void *rows = bpf_map_lookup_elem(&row_segments, &segment);

	return rows ? bpf_map_lookup_elem(rows, &inside) : NULL;
}

/* The rule that holds at `address` by the rows of a range. Not static: checked once by the verifier. */
__noinline int search_rows(const struct hawk_code_range *range, __u64 address)
{
	if (!range)
		return HAWK_RULE_NO_TABLE;
	__u64 offset = address - range->base, count = range->row_count, passed = 0;
	const struct hawk_row *row;

	if (!count)
		return HAWK_RULE_NO_TABLE;
	if (offset >> 32)
		return HAWK_RULE_GAP;
	/* How many begin at or below the offset. */
#pragma clang loop unroll(disable)
	for (__u32 step = range->search_step; step; step >>= 1) {
		__u64 is_over = is_less(count, passed + step);

		row = row_at(range->first_row + (passed + step - 1) * (is_over ^ 1));
		if (!row)
			return HAWK_RULE_NO_TABLE;
		__u64 stays = is_less(offset, row->offset) | is_over;

		passed = (passed + step * (stays ^ 1)) & (HAWK_MAX_ROWS - 1);
	}
	if (!passed)
		return HAWK_RULE_GAP;
	row = row_at(range->first_row + passed - 1);
	return row ? row->rule : HAWK_RULE_NO_TABLE;
}

/* The rule for code that user space has not told of, or no longer: by what the kernel has mapped there, if the rows of that
 * file are known. It is asked for every time, because nothing would tell when such a rule no longer holds. That no rows can be
 * expected is cached: there a file that is mapped later is unknown until user space tells of it. Not static: checked once by
 * the verifier. */
__noinline int search_known_files(__u64 address, __u32 generation)
{
	struct hawk_place place = { .address = address };

	bpf_loop(HAWK_MAPPING_ATTEMPTS, find_place, &place, 0);
	if (place.error == -HAWK_EBUSY)
		return HAWK_RULE_NO_CODE;
	for (__u32 number = 0; number < HAWK_MAX_FILE_PARTS && place.part.inode; number++) {
		place.part.number = number;
		const struct hawk_code_range *code = bpf_map_lookup_elem(&known_files, &place.part);

		/* User space has not read it yet. */
		if (!code)
			return HAWK_RULE_NO_CODE;
		if (place.file_offset < code->start || place.file_offset >= code->end)
			continue;
		if (!code->row_count)
			break;
		return search_rows(code, place.file_offset);
	}
	hawk_cache_rule(unwind_cache, address, generation, HAWK_RULE_NO_CODE_CACHED);
	return HAWK_RULE_NO_CODE;
}

/* Searches for the rule for an address, and caches it. */
static __always_inline __u32 search_rule(__u64 address, __u64 version, __u32 generation)
{
	__u64 ranges = HAWK_READ_ONCE(state.code_ranges);
	__u32 index = find_range(ranges, address), number;
	int holds;

	__sync_fetch_and_add(&state.unwind_misses, 1);
	if (index == HAWK_NO_RANGE)
		return search_known_files(address, generation);
	__u64 checked_before = code_range_checks[range_index(index)];

	/* Before it is marked as holding: whoever sees the mark may rely on the list. */
	if (checked_before != version && checked_before != HAWK_RANGE_IS_DEAD)
		note_used_range(index);
	holds = check_range(index, version);
	if (holds < 0)
		return HAWK_RULE_CHANGING;
	if (!holds)
		return search_known_files(address, generation);
	number = search_rows(&code_ranges[range_index(index)], address);
	/* The half was given up, and may have been written to, while it was read. */
	if (HAWK_READ_ONCE(state.code_ranges) != ranges)
		return search_known_files(address, generation);
	if (number < HAWK_MAX_RULES)
		hawk_cache_rule(unwind_cache, address, generation, number);
	return number;
}

/* The rule for an address that is not the first of its set in the cache. Not static: checked once by the verifier. */
__noinline int find_rule(const struct hawk_thread *thread, __u64 address, __u32 generation)
{
	__u32 cached = hawk_find_second_cached(unwind_cache, address, generation);

	if (!thread)
		return 0;
	return cached ? cached : search_rule(address, mappings_version(thread), generation);
}

#endif
