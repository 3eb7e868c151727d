/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What becomes of a target when it replaces its program. */
#ifndef HAWKTRACE_TARGET_PROGRAMS_BPF_H
#define HAWKTRACE_TARGET_PROGRAMS_BPF_H

#include "bpf/mapping_events.bpf.h"
#include "bpf/region_memories.bpf.h"
#include "bpf/threads.bpf.h"

/* A stack number for what the program is given without a stack. Where none is left it keeps the one of the program before, whose
 * blocks without a stack are then taken for its own: counted. */
static __always_inline void begin_without_stacks(struct hawk_target *target, __u32 program)
{
	__u32 number = __sync_fetch_and_add(&state.next_stack, 1);
	struct hawk_stack_record *record;

	if (number >= settings.max_stacks) {
		__sync_fetch_and_sub(&state.next_stack, 1);
		count_loss(program, HAWK_LOSS_STACK_TABLE_FULL);
		count_loss(program, HAWK_LOSS_LIVE_TABLE_ERROR);
		number = target->no_stack;
	}
	record = bpf_map_lookup_elem(&stack_records, &number);
	if (record)
		record->program = program;
	target->no_stack = number;
}

/* Of a target's code nothing is known: no range holds, and no cached rule. */
static __always_inline void begin_without_ranges(struct hawk_target *target)
{
	__u32 publication = __sync_fetch_and_add(&state.publications, 1) + 1;

	target->code_ranges = hawk_ranges_word(publication, 0, 0);
	hawk_begin_generation(&target->used_ranges, hawk_used_turn(&target->used_ranges),
			      hawk_next_generation(&state.rule_generations));
}

/* Perf events, by which a process has the probes that it has inherited. */
static __always_inline bool has_perf_events(const struct task_struct *task)
{
	return settings.follows_children && BPF_CORE_READ(task, perf_event_ctxp);
}

/* The kernel takes all perf events from a process that changes its privileges by an exec, or may not read its program
 * (perf_event_exit_task in begin_new_exec). Seen here, since the process may have ended before user space looks at its memory; and
 * where probes are in all processes, breakpoints are not missing, but the returns of calls are not seen. */
static __always_inline void count_taken_events(__u32 program, bool had_events)
{
	if (had_events && !has_perf_events(bpf_get_current_task_btf()))
		count_loss(program, HAWK_LOSS_MISSING_BREAKPOINT);
}

/* The current process, a target perhaps, is about to replace its program. */
static __always_inline void note_events(void)
{
	struct hawk_target *target = target_of_current_group();

	if (target)
		target->had_events = has_perf_events(bpf_get_current_task_btf());
}

struct hawk_sum_of_frees {
	__u32 number;
	__u64 frees;
};

static long add_frees(__u32 stripe, struct hawk_sum_of_frees *sum)
{
	__u32 index = stripe * settings.max_stacks + sum->number;
	struct hawk_counters *counted = bpf_map_lookup_elem(&counters, &index);

	if (counted)
		sum->frees += counted->freed_count;
	return 0;
}

/* What the programs before have freed of unknown blocks is not this one's. */
static __noinline void begin_without_frees(struct hawk_target *target, __u32 program)
{
	struct hawk_sum_of_frees sum = { .number = target->reserved_numbers + HAWK_UNTRACED };

	bpf_loop(settings.cpu_mask + 1, add_frees, &sum, 0);
	target->frees_before[hawk_frees_before(program)] = sum.frees;
}

/* The current process, a target, has begun to run another program. */
static __always_inline void begin_program(struct hawk_target *target)
{
	__u32 program = target->program + HAWK_NEXT_PROGRAM;

	note_target(bpf_get_current_task_btf(), target->program);
	for (int i = 0; i < HAWK_MAX_OPERATOR_FILES; i++)
		target->files.operator_files[i].base = 0;
	forget_allocator_ranges(target);
	begin_without_ranges(target);
	begin_without_stacks(target, program);
	begin_without_frees(target, program);
	target->is_shared = 0;
	if (target->borrows_points)
		target->borrows_points = HAWK_POINTS_OF_MAKER_ELSEWHERE;
	target->program_began_ns = bpf_ktime_get_ns();
	target->program = program;
	count_taken_events(program, target->had_events);
	__sync_fetch_and_add(&state.programs_ended, 1);
	if (settings.follows_regions)
		announce_memory(target);
	announce_replaced_program(target);
}

#endif
