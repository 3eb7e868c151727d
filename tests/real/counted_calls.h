/* What a program calls of a preloaded counter. Only a thread's outermost call counts, with the size that was asked for.
 * Included last, by a counter that has defined these:
 *
 *   bool enter(void), void leave(void)   begin and end a call; enter: whether it counts
 *   void lock_account(void), void unlock_account(void)   around each use of those that follow
 *   void keep(void*, size_t), bool take(void*, size_t*)   the table of blocks; take: whether the block was there
 *   void came(void*, size_t), void went(size_t), void count_unknown_free(void)   the account; came keeps the block, and
 * takes NULL */
#ifndef HAWKTRACE_TESTS_REAL_COUNTED_CALLS_H
#define HAWKTRACE_TESTS_REAL_COUNTED_CALLS_H

#include "tests/real/next_allocator.h"

#define EXPORT __attribute__((visibility("default")))

/* A realloc on its way. The old block leaves the table first: once the allocator has moved it, another thread may be
 * given its address. */
struct change {
  void* old;
  size_t bytes;
  bool known;
};

static struct change begin_change(void* old) {
  struct change change = {.old = old};
  lock_account();
  change.known = old && take(old, &change.bytes);
  unlock_account();
  return change;
}

static void end_change(struct change change, void* result, size_t bytes) {
  bool stays = !result && bytes != 0; /* it failed */
  lock_account();
  if (change.known && stays) keep(change.old, change.bytes);
  if (change.known && !stays) went(change.bytes);
  if (change.old && !change.known && !stays) count_unknown_free();
  came(result, bytes);
  unlock_account();
}

static void count_new(void* address, size_t bytes) {
  lock_account();
  came(address, bytes);
  unlock_account();
}

static void* finish(bool counts, void* address, size_t bytes) {
  if (counts) count_new(address, bytes);
  leave();
  return address;
}

EXPORT void* malloc(size_t bytes) {
  if (resolving) return early_block(bytes);
  bool counts = enter();
  return finish(counts, next.malloc(bytes), bytes);
}

EXPORT void* calloc(size_t count, size_t each) {
  if (resolving) return early_block(count * each);
  bool counts = enter();
  return finish(counts, next.calloc(count, each), count * each);
}

EXPORT void* realloc(void* old, size_t bytes) {
  if (is_early(old)) die("counter: dlsym's memory is resized\n");
  bool counts = enter();
  struct change change = counts ? begin_change(old) : (struct change){0};
  void* result = next.realloc(old, bytes);
  if (counts) end_change(change, result, bytes);
  leave();
  return result;
}

EXPORT void* reallocarray(void* old, size_t count, size_t each) {
  if (is_early(old)) die("counter: dlsym's memory is resized\n");
  bool counts = enter();
  struct change change = counts ? begin_change(old) : (struct change){0};
  void* result = next.reallocarray(old, count, each);
  size_t bytes = 0;
  if (__builtin_mul_overflow(count, each, &bytes)) bytes = SIZE_MAX;
  if (counts) end_change(change, result, bytes);
  leave();
  return result;
}

EXPORT void free(void* address) {
  if (!address || is_early(address)) return;
  bool counts = enter();
  size_t bytes = 0;
  if (counts) {
    lock_account();
    if (take(address, &bytes)) {
      went(bytes);
    } else {
      count_unknown_free();
    }
    unlock_account();
  }
  next.free(address);
  leave();
}

EXPORT int posix_memalign(void** result, size_t alignment, size_t bytes) {
  bool counts = enter();
  int error = next.posix_memalign(result, alignment, bytes);
  if (counts && !error) count_new(*result, bytes);
  leave();
  return error;
}

EXPORT void* aligned_alloc(size_t alignment, size_t bytes) {
  bool counts = enter();
  return finish(counts, next.aligned_alloc(alignment, bytes), bytes);
}

EXPORT void* memalign(size_t alignment, size_t bytes) {
  bool counts = enter();
  return finish(counts, next.memalign(alignment, bytes), bytes);
}

EXPORT void* valloc(size_t bytes) {
  bool counts = enter();
  return finish(counts, next.valloc(bytes), bytes);
}

EXPORT void* pvalloc(size_t bytes) {
  bool counts = enter();
  return finish(counts, next.pvalloc(bytes), bytes);
}

#endif
