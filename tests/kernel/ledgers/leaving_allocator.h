/* An executable with a malloc of its own, which does something drastic when asked for the magic size. */
#ifndef HAWKTRACE_LEAVING_ALLOCATOR_H
#define HAWKTRACE_LEAVING_ALLOCATOR_H

#include "ledger.h"

enum { kMagicSize = 424242 };

void* __libc_malloc(size_t);

/* Called inside malloc(kMagicSize); does not return. */
static void leave(void);

__attribute__((noinline, noipa)) void* malloc(size_t n) {
  if (n == kMagicSize) leave();
  void* volatile block = __libc_malloc(n);
  return block;
}

#endif
