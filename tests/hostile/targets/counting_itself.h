/* An allocator in the executable that counts by itself, for all of its callers: the truth where libraries allocate.
 */
#ifndef HAWKTRACE_COUNTING_ITSELF_H
#define HAWKTRACE_COUNTING_ITSELF_H

#include "hostile.h"

enum { kOwnHeader = 16 };

static char own_memory[256 << 20] __attribute__((aligned(4096)));
static size_t own_used;
static uint64_t own_totals[4]; /* allocated bytes and count, freed bytes and count */

static void own_count(int at, size_t n) {
  __atomic_fetch_add(&own_totals[at], n, __ATOMIC_RELAXED);
  __atomic_fetch_add(&own_totals[at + 1], 1, __ATOMIC_RELAXED);
}
static inline void* own_take(size_t n) {
  size_t at = __atomic_fetch_add(&own_used, (n + kOwnHeader + 15) & ~(size_t)15, __ATOMIC_RELAXED);
  if (at + n + kOwnHeader > sizeof(own_memory)) return NULL;
  *(size_t*)(own_memory + at) = n;
  own_count(0, n);
  return own_memory + at + kOwnHeader;
}
static inline void own_give_back(void* block) {
  if (block) own_count(2, *(size_t*)((char*)block - kOwnHeader));
}

__attribute__((noipa)) void* malloc(size_t n) { return own_take(n); }
__attribute__((noipa)) void* calloc(size_t count, size_t each) { return own_take(count * each); }
__attribute__((noipa)) void free(void* block) { own_give_back(block); }
__attribute__((noipa)) void* realloc(void* old, size_t n) {
  void* fresh = own_take(n);
  if (!fresh || !old) return fresh;
  size_t before = *(size_t*)((char*)old - kOwnHeader);
  memcpy(fresh, old, before < n ? before : n);
  own_give_back(old);
  return fresh;
}

/* From here on it counts. */
__attribute__((unused)) static void own_begin(void) { memset(own_totals, 0, sizeof(own_totals)); }
__attribute__((unused)) static void own_tell(void) { ledger_line("total", "all", own_totals, 4); }

#endif
