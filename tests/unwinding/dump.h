#pragma once
/* What dump.c writes and stack_dump.cpp reads: a file for each program image of a process, records one after the other.
 */
#include <stdint.h>

/* The variables that control the preloaded library. Without the first it does nothing. */
#define HAWK_DUMP_DIRECTORY "HAWK_DUMP_DIRECTORY" /* where its files go, <pid>.<n>; any user may write there */
#define HAWK_DUMP_EVERY "HAWK_DUMP_EVERY"         /* mean number of allocations from one dump to the next of a thread */
#define HAWK_DUMP_SEED "HAWK_DUMP_SEED"           /* of the choice among them */
#define HAWK_DUMP_LIMIT "HAWK_DUMP_LIMIT"         /* most dumps of one program image */

/* Of a stack longer than that the outer end is missing: then stack_bytes < stack_end - stack_pointer. */
#define HAWK_DUMP_MAX_STACK (1u << 20)

enum hawk_dump_kind {
  HAWK_DUMP_MAPS = 1,  /* the text of /proc/self/maps; holds for all stacks up to the next one */
  HAWK_DUMP_STACK = 2, /* struct hawk_dump_stack, then the stack's bytes from stack_pointer on */
};

struct hawk_dump_record {
  uint32_t magic; /* HAWK_DUMP_MAGIC */
  uint32_t kind;  /* enum hawk_dump_kind */
  uint64_t bytes; /* that follow */
};
#define HAWK_DUMP_MAGIC 0x6b776168u

/* Registers at an allocator's first instruction. Those that functions preserve are also those of its caller after the
 * call; the word at stack_pointer is its return address. */
struct hawk_dump_stack {
  uint64_t pc; /* the allocator's first instruction */
  uint64_t stack_pointer;
  uint64_t rbx, rbp, r12, r13, r14, r15;
  uint64_t stack_end;   /* of the mapping in which the stack lies */
  uint64_t stack_bytes; /* that are here */
};
