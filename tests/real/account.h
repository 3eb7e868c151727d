/* What the preloaded counter (counter.c) and the test share: one page of a file that both map. Compiled as C and C++.
 */
#ifndef HAWKTRACE_TESTS_REAL_ACCOUNT_H
#define HAWKTRACE_TESTS_REAL_ACCOUNT_H

#include <stdint.h>

/* Environment variable with the path of the shared file. */
#define HAWK_ACCOUNT_VARIABLE "HAWK_ACCOUNT_FILE"

/* Read and written with atomic operations only, except while the counted process is stopped. */
struct hawk_account {
  uint64_t counting; /* the switch, set by the test while no thread is inside; never unset */
  uint64_t inside;   /* threads that are inside an allocator function */
  uint64_t calls;    /* calls that have come back, counted or not: the process makes progress */
  uint64_t allocated_bytes;
  uint64_t allocated_count;
  uint64_t freed_bytes;
  uint64_t freed_count;
  uint64_t live_bytes; /* summed over the table of blocks, not derived from the above */
  uint64_t live_count;
  uint64_t unknown_frees; /* of blocks from before the switch */
  uint64_t lost;          /* blocks that found no room in the table: must stay 0 */
};

#endif
