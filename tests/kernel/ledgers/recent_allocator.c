/* A library that exports functions which no allocator of Debian's has yet, or in such a build: of mimalloc 2.2 and 3.0,
 * of Google's tcmalloc, and an experiment of jemalloc's. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define EXPORTED __attribute__((noinline, noipa, visibility("default")))

enum { kHeapBytes = 1 << 24 };

static char heap[kHeapBytes];
static size_t used;
static volatile size_t freed;

/* The block has its size before it. */
static inline __attribute__((always_inline)) void* take(size_t alignment, size_t n) {
  size_t bytes = (n + alignment + 31) & ~(size_t)15;
  size_t at = __atomic_fetch_add(&used, bytes, __ATOMIC_SEQ_CST);
  if (n > kHeapBytes || at + bytes > kHeapBytes) return NULL;
  char* block = (char*)(((uintptr_t)heap + at + 15 + alignment) & ~(uintptr_t)(alignment - 1));
  ((size_t*)block)[-1] = n;
  return block;
}
static inline __attribute__((always_inline)) void* resize(void* old, size_t n) {
  char* block = take(16, n);
  if (old && block) {
    size_t before = ((size_t*)old)[-1];
    memcpy(block, old, before < n ? before : n);
  }
  return block;
}

EXPORTED void* malloc(size_t n) { return take(16, n); }
EXPORTED void free(void* block) { freed += block != NULL; }

EXPORTED void* mi_malloc(size_t n) { return take(16, n); }
EXPORTED void mi_free(void* block) { freed += block != NULL; }
EXPORTED void* mi_umalloc(size_t n, size_t* usable) {
  *usable = n;
  return take(16, n);
}
EXPORTED void* mi_umalloc_aligned(size_t n, size_t alignment, size_t* usable) {
  *usable = n;
  return take(alignment, n);
}
EXPORTED void* mi_ucalloc(size_t count, size_t n, size_t* usable) {
  *usable = count * n;
  return take(16, count * n);
}
EXPORTED void* mi_urealloc(void* old, size_t n, size_t* before, size_t* after) {
  *before = old ? ((size_t*)old)[-1] : 0;
  *after = n;
  return resize(old, n);
}
EXPORTED void mi_ufree(void* block, size_t* usable) {
  *usable = block ? ((size_t*)block)[-1] : 0;
  freed += block != NULL;
}
EXPORTED void* mi_theap_malloc(void* theap, size_t n) { return theap ? take(16, n) : NULL; }
EXPORTED void* mi_theap_calloc(void* theap, size_t count, size_t n) { return theap ? take(16, count * n) : NULL; }
EXPORTED void* mi_theap_realloc(void* theap, void* old, size_t n) { return theap ? resize(old, n) : NULL; }
EXPORTED int mi_theap_unload(void* theap) { return theap != NULL; }

struct sized_block {
  void* block;
  size_t bytes;
};
EXPORTED struct sized_block tcmalloc_size_returning_operator_new(size_t n) {
  return (struct sized_block){take(16, n), n};
}
EXPORTED struct sized_block tcmalloc_size_returning_operator_new_aligned_nothrow(size_t n, size_t alignment) {
  return (struct sized_block){take(alignment, n), n};
}
EXPORTED struct sized_block alloc_at_least(size_t n) { return (struct sized_block){take(16, n), n}; }
EXPORTED struct sized_block aligned_alloc_at_least(size_t alignment, size_t n) {
  return (struct sized_block){take(alignment, n), n};
}

EXPORTED void* mallocx(size_t n, int flags) { return flags < 0 ? NULL : take(16, n); }
EXPORTED struct sized_block smallocx_0123456789abcdef(size_t n, int flags) {
  return (struct sized_block){flags < 0 ? NULL : take(16, n), n};
}
