/* A library with an unusual allocator: sizes that are changed on the way, functions of the allocator that
 * call each other, blocks within blocks, tries that fail and are made again, and branches between what allocates and
 * the return. In this shape, which gcc gives it at -O1, malloc and calloc have points inside: calloc opens its call,
 * and malloc is nested in it. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O1")
#endif

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define EXPORTED __attribute__((noinline, noipa, visibility("default")))
#define APART __attribute__((noinline, noipa)) static

enum { kHeapBytes = 1 << 27, kChunkBytes = 1 << 13, kMostBytes = 1 << 19 };

static char heap[kHeapBytes];
static size_t used;
static volatile unsigned ticks;
static volatile int sum;
static __thread char *next, *end;

APART void note(int number) { sum += number; }

/* A block of its own, or NULL. */
static inline char* take(size_t n) {
  size_t bytes = (n + 47) & ~(size_t)15, at;
  if (n > kMostBytes) return NULL;
  at = __atomic_fetch_add(&used, bytes, __ATOMIC_SEQ_CST);
  if (at + bytes > kHeapBytes) return NULL;
  *(size_t*)(heap + at + 8) = n;
  return heap + at + 16;
}

APART char* take_slowly(size_t n) {
  note(1);
  return take(n);
}

/* From the chunk of the thread, if there is room. */
static inline char* take_from_chunk(size_t n) {
  char* block = next;
  if (!block || n > kChunkBytes / 2) return NULL;
  if (block + ((n + 31) & ~(size_t)15) > end) return NULL;
  next = block + ((n + 31) & ~(size_t)15);
  return block + 16;
}

APART int make_chunk(void) {
  char* chunk = take(kChunkBytes);
  if (!chunk) return 0;
  next = chunk;
  end = chunk + kChunkBytes;
  return 1;
}

static char* (*volatile implementation)(size_t) = take_slowly;

EXPORTED void* malloc(size_t n) {
  char* block = NULL;
  if (ticks++ % 7 == 0) note(4);
  if (n > kMostBytes / 2) return take_slowly(n);
  if (n == 0) n = 1;
  for (;;) {
    if (n > 4000) {
      block = n % 2 ? implementation(n) : take(n);
      break;
    }
    block = take_from_chunk(n);
    if (block) break;
    if (!make_chunk()) {
      errno = ENOMEM;
      return NULL;
    }
  }
  if (block && ticks % 11 == 0) block[0] = 1;
  if (ticks % 5 == 0) note(7);
  return block;
}

/* Asks malloc, then clears in a way that has many branches. */
EXPORTED void* calloc(size_t count, size_t each) {
  size_t n;
  char* block;
  if (__builtin_mul_overflow(count, each, &n)) return NULL;
  block = malloc(n);
  if (!block) return NULL;
  for (size_t i = 0; i < (n < 64 ? n : 64); i++) block[i] = 0;
  return block;
}

/* Its block lies within one of malloc's. */
EXPORTED void* aligned_alloc(size_t alignment, size_t n) {
  char* block;
  if (alignment > 64) return NULL;
  block = malloc(n + alignment + 1);
  if (!block) {
    note(2);
    return NULL;
  }
  return (void*)(((uintptr_t)block + alignment - 1) & ~(uintptr_t)(alignment - 1));
}

EXPORTED int posix_memalign(void** result, size_t alignment, size_t n) {
  char* block;
  if (alignment > 16) return EINVAL;
  block = take(n);
  if (!block) return ENOMEM;
  if (ticks++ % 3 == 0) note(5);
  *result = block;
  return 0;
}

EXPORTED void free(void* block) {
  if (block) note(0);
}
