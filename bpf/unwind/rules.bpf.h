/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* From an address of code to the number of its rule: through the cache, or by searching (layout.h). */
#ifndef HAWKTRACE_RULES_BPF_H
#define HAWKTRACE_RULES_BPF_H

#include "bpf/loops.bpf.h"
#include "bpf/mappings.bpf.h"
#include "bpf/unwind/rule_cache.h"

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

static __always_inline const struct hawk_row *row_at(__u32 number)
{
	__u32 segment = number >> HAWK_SEGMENT_SHIFT, inside = number & (HAWK_SEGMENT_ROWS - 1);
	void *rows = bpf_map_lookup_elem(&row_segments, &segment);

	return rows ? bpf_map_lookup_elem(rows, &inside) : NULL;
}

/* The rule that holds at `address` by the rows of a range. Not static: checked once by the verifier. */
__noinline int hawk_search_rows(const struct hawk_code_range *range, __u64 address)
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
		__u64 is_over = hawk_is_less(count, passed + step);

		row = row_at(range->first_row + (passed + step - 1) * (is_over ^ 1));
		if (!row)
			return HAWK_RULE_NO_TABLE;
		__u64 stays = hawk_is_less(offset, row->offset) | is_over;

		passed = (passed + step * (stays ^ 1)) & (HAWK_MAX_ROWS - 1);
	}
	if (!passed)
		return HAWK_RULE_GAP;
	row = row_at(range->first_row + passed - 1);
	return row ? row->rule : HAWK_RULE_NO_TABLE;
}

/* The rule for code that user space has not announced, or no longer: by what the kernel has mapped there, if the rows of that
 * file are known. It is asked for every time, because nothing would say when such a rule no longer holds. That no rows can be
 * expected is cached: there a file that is mapped later is unknown until user space announces it. `own_vma`: the mapping, if it is known
 * without the kernel's lock; 0: it is not. HAWK_RULE_CHANGING: the lock is not to be had. Not static: checked once by the verifier. */
__noinline int search_mapped_file(__u64 address, __u32 generation, __u64 own_vma)
{
	/* For more there is no room on the stacks of programs on threads' stacks. */
	union {
		struct hawk_file_position position;
		struct hawk_file_part part;
	} place = { .position = { .address = address } };

	if (own_vma)
		note_position(NULL, (struct vm_area_struct *)own_vma, &place.position);
	else
		loop_apart(HAWK_MAPPING_ATTEMPTS, find_position, &place.position);
	const __u64 file = place.position.file, file_offset = place.position.file_offset;

	if (file == HAWK_MAPPINGS_BUSY)
		return HAWK_RULE_CHANGING;
	place.part = (struct hawk_file_part){};
	if (file)
		identify_file(file, &place.part);
	for (__u32 number = 0; number < HAWK_MAX_FILE_PARTS && place.part.inode; number++) {
		place.part.number = number;
		const struct hawk_code_range *code = bpf_map_lookup_elem(&known_files, &place.part);

		/* User space has not read it yet. */
		if (!code)
			return HAWK_RULE_NO_CODE;
		if (file_offset < code->start || file_offset >= code->end)
			continue;
		if (!code->row_count)
			break;
		return hawk_search_rows(code, file_offset);
	}
	hawk_cache_rule(unwind_cache, address, generation, HAWK_RULE_NO_CODE_CACHED);
	return HAWK_RULE_NO_CODE;
}

/* The lock is not to be had as long as a thread waits for it, also if none has it: one of hawktrace's own, which looks for what was
 * mapped a moment ago, while its virtual CPU is not scheduled (dozens of walks one after the other). Without the lock it is seen
 * afterwards whether mappings were changed meanwhile. */
static __always_inline int search_unlocked(__u64 address, __u32 generation)
{
	__u64 before = changes_of_mappings(), vma;
	int rule;

	/* The current task's own change: nothing is mapped there. */
	if (!before)
		return is_changing_mappings() ? HAWK_RULE_NO_CODE : HAWK_RULE_CHANGING;
	vma = vma_in_tree(address);
	rule = vma ? search_mapped_file(address, generation, vma) : HAWK_RULE_NO_CODE;
	return changes_of_mappings() == before ? rule : HAWK_RULE_CHANGING;
}

static __always_inline int hawk_search_elsewhere(__u64 address, __u32 generation)
{
	/* Not there: the stacks of programs on threads' stacks have no room left. */
	__u64 own_vma = is_changing_mappings() ? vma_in_tree(address) : 0;
	int rule = search_mapped_file(address, generation, own_vma);

	return rule == HAWK_RULE_CHANGING ? search_unlocked(address, generation) : rule;
}

/* The rule for an address that is not the first of its set in the cache. Not static: checked once by the verifier. */
__noinline int find_rule(const struct hawk_thread *thread, __u64 address, __u32 generation)
{
	__u32 cached = hawk_find_second_cached(unwind_cache, address, generation);

	if (!thread)
		return 0;
	return cached ? cached : hawk_search_rule(thread, address, generation);
}

#endif
