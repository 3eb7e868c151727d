/* An allocator in the executable that may be entered again at any point, by a signal handler for instance, and that
 * does what `in_malloc` says in the middle of a call. It never gives memory back. */
#ifndef HAWKTRACE_OWN_ALLOCATOR_H
#define HAWKTRACE_OWN_ALLOCATOR_H

#include "hostile.h"

static char own_memory[64 << 20] __attribute__((aligned(4096)));
static size_t own_used;
static void (*volatile in_malloc)(size_t n);

__attribute__((noipa)) void* malloc(size_t n) {
  void (*function)(size_t) = in_malloc;
  if (function) function(n);
  size_t at = __atomic_fetch_add(&own_used, (n + 31) & ~(size_t)15, __ATOMIC_RELAXED);
  return at + n <= sizeof(own_memory) ? own_memory + at : NULL;
}
__attribute__((noipa)) void* calloc(size_t count, size_t each) {
  size_t at = __atomic_fetch_add(&own_used, (count * each + 31) & ~(size_t)15, __ATOMIC_RELAXED);
  return at + count * each <= sizeof(own_memory) ? own_memory + at : NULL;
}
__attribute__((noipa)) void* realloc(void* block, size_t n) {
  void* fresh = calloc(1, n);
  if (fresh && block) memcpy(fresh, block, n);
  return fresh;
}
__attribute__((noipa)) void free(void* block) { __asm__ volatile("" ::"r"(block) : "memory"); }

#endif
