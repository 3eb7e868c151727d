/* A library that replaces operator new, and defines no malloc. Its blocks are of a pool; with FORWARDS they are
 * malloc's, behind headers, as most such libraries have it. Never run. */
#include <stddef.h>

#define EXPORT __attribute__((visibility("default")))

void* malloc(size_t bytes);
void free(void* address);
void __cxa_throw(void*, void*, void*) __attribute__((noreturn));

EXPORT void* _Znwm(size_t bytes);
EXPORT void _ZdlPv(void* address);

static void** pool;

/* The compiler knows that it does not return, and puts nothing behind its calls. */
static __attribute__((noinline, noipa, noreturn, cold)) void out_of_memory(void) { __cxa_throw(0, 0, 0); }

static __attribute__((noinline, noipa)) void* take(size_t bytes) {
#ifndef FORWARDS
  if (pool) {
    void** block = pool;
    pool = *block;
    return block;
  }
#endif
  size_t* header = malloc(bytes + sizeof(size_t));
  if (!header) out_of_memory();
  *header = bytes;
  return header + 1;
}

static __attribute__((noinline, noipa)) void give_back(void* address) {
#ifdef FORWARDS
  free((size_t*)address - 1);
#else
  *(void**)address = pool;
  pool = address;
#endif
}

EXPORT void* _Znwm(size_t bytes) {
  void* block = take(bytes);
  if (!block) out_of_memory();
  return block;
}
EXPORT void* _Znam(size_t bytes) { return _Znwm(bytes); }

EXPORT void _ZdlPv(void* address) {
  if (address) give_back(address);
}
EXPORT void _ZdaPv(void* address) { _ZdlPv(address); }
/* By no function of the file. */
EXPORT void _ZdlPvm(void* address, size_t bytes) {
  (void)bytes;
  free((size_t*)address - 1);
}
