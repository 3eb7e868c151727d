/* A malloc of its own, in the executable or in the library that leaving_library.c makes of this header, which does
 * something drastic when asked for the magic size. */
#ifndef HAWKTRACE_LEAVING_ALLOCATOR_H
#define HAWKTRACE_LEAVING_ALLOCATOR_H

#include "ledger.h"

enum { kMagicSize = 424242 };

void* __libc_malloc(size_t);

#ifdef LEDGER_LEAVING_LIBRARY
/* Called inside malloc(kMagicSize); does not return. Set by the program. */
void (*leave_allocator)(void);
#define leave leave_allocator
#else
/* Called inside malloc(kMagicSize); does not return. */
static void leave(void);
#endif

__attribute__((noinline, noipa)) void* malloc(size_t n) {
  if (n == kMagicSize) leave();
  void* volatile block = __libc_malloc(n);
  return block;
}

#endif
