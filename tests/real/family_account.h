/* What the preloaded counter of families (family_counter.c) and the test share: a file for each process, named by its
 * number, which it maps. Compiled as C and C++. */
#ifndef HAWKTRACE_TESTS_REAL_FAMILY_ACCOUNT_H
#define HAWKTRACE_TESTS_REAL_FAMILY_ACCOUNT_H

#include <stdint.h>

/* Environment variable with the directory of the files. */
#define HAWK_FAMILY_VARIABLE "HAWK_FAMILY_DIRECTORY"

/* Of the program that the process runs, from its first call on, or from the process's own beginning if that was a fork.
 * A program that replaces it begins with zeros. Written with atomic operations. */
struct hawk_family_account {
  uint64_t allocated_bytes;
  uint64_t allocated_count;
  uint64_t freed_bytes;
  uint64_t freed_count;
  uint64_t unknown_frees; /* of blocks from before a fork: of the process, whichever program it ran then */
  uint64_t lost;          /* blocks that found no room in the table: must stay 0 */
};

#endif
