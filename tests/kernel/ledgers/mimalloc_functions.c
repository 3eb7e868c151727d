/* mimalloc's own functions, whose arguments stand in other places, and which never reach malloc. */
#include "named_function.h"

NAMED(void*, mi_heap_new, void)
NAMED(void, mi_free, void*)
NAMED(void, mi_cfree, void*)
NAMED(void, mi_free_size, void*, size_t)
NAMED(void, mi_free_size_aligned, void*, size_t, size_t)
NAMED(size_t, mi_usable_size, const void*)
NAMED(void, mi_collect, int)

#define ALLOCATING(name, parameters, values, bytes, ...) \
  NAMED(void*, name, __VA_ARGS__)                        \
  SITE_FUNCTION struct block by_##name parameters { return ALLOCATED(name values, bytes); }
#define RESIZING(name, parameters, values, bytes, ...) \
  NAMED(void*, name, __VA_ARGS__)                      \
  SITE_FUNCTION struct block by_##name parameters { return REALLOCATED(old, name values, bytes); }

ALLOCATING(mi_malloc_small, (size_t n), (n), n, size_t)
ALLOCATING(mi_malloc_aligned, (size_t n), (n, 128), n, size_t, size_t)
ALLOCATING(mi_malloc_aligned_at, (size_t n), (n, 128, 16), n, size_t, size_t, size_t)
ALLOCATING(mi_zalloc_aligned_at, (size_t n), (n, 128, 16), n, size_t, size_t, size_t)
ALLOCATING(mi_mallocn, (size_t n), (n, 3), n * 3, size_t, size_t)
ALLOCATING(mi_calloc_aligned, (size_t n), (n, 3, 64), n * 3, size_t, size_t, size_t)
ALLOCATING(mi_new_n, (size_t n), (n, 3), n * 3, size_t, size_t)
ALLOCATING(mi_heap_malloc, (void* heap, size_t n), (heap, n), n, void*, size_t)
ALLOCATING(mi_heap_zalloc, (void* heap, size_t n), (heap, n), n, void*, size_t)
ALLOCATING(mi_heap_malloc_small, (void* heap, size_t n), (heap, n), n, void*, size_t)
ALLOCATING(mi_heap_malloc_aligned, (void* heap, size_t n), (heap, n, 256), n, void*, size_t, size_t)
ALLOCATING(mi_heap_calloc, (void* heap, size_t n), (heap, n, 3), n * 3, void*, size_t, size_t)
ALLOCATING(mi_heap_mallocn, (void* heap, size_t n), (heap, n, 3), n * 3, void*, size_t, size_t)
ALLOCATING(mi_heap_calloc_aligned_at, (void* heap, size_t n), (heap, n, 3, 64, 8), n * 3, void*, size_t, size_t, size_t,
           size_t)
ALLOCATING(mi_heap_alloc_new, (void* heap, size_t n), (heap, n), n, void*, size_t)
ALLOCATING(mi_heap_alloc_new_n, (void* heap, size_t n), (heap, n, 3), n * 3, void*, size_t, size_t)
RESIZING(mi_realloc_aligned_at, (struct block old, size_t n), (old.address, n, 64, 8), n, void*, size_t, size_t, size_t)
RESIZING(mi_reallocn, (struct block old, size_t n), (old.address, n, 5), n * 5, void*, size_t, size_t)
RESIZING(mi_rezalloc, (struct block old, size_t n), (old.address, n), n, void*, size_t)
RESIZING(mi_recalloc, (struct block old, size_t n), (old.address, n, 5), n * 5, void*, size_t, size_t)
RESIZING(mi_recalloc_aligned, (struct block old, size_t n), (old.address, n, 5, 64), n * 5, void*, size_t, size_t,
         size_t)
RESIZING(mi_new_realloc, (struct block old, size_t n), (old.address, n), n, void*, size_t)
RESIZING(mi_new_reallocn, (struct block old, size_t n), (old.address, n, 5), n * 5, void*, size_t, size_t)
RESIZING(mi_heap_realloc, (void* heap, struct block old, size_t n), (heap, old.address, n), n, void*, void*, size_t)
RESIZING(mi_heap_reallocn, (void* heap, struct block old, size_t n), (heap, old.address, n, 5), n * 5, void*, void*,
         size_t, size_t)
RESIZING(mi_heap_rezalloc_aligned, (void* heap, struct block old, size_t n), (heap, old.address, n, 64), n, void*,
         void*, size_t, size_t)
RESIZING(mi_heap_recalloc, (void* heap, struct block old, size_t n), (heap, old.address, n, 5), n * 5, void*, void*,
         size_t, size_t)

/* The old block is gone in either case. */
NAMED(void*, reallocf, void*, size_t)
SITE_FUNCTION struct block by_reallocf(struct block old, size_t n) {
  void* address = reallocf(old.address, n);
  ledger_freed(old);
  return ALLOCATED(address, n);
}
NAMED(void*, mi_heap_reallocf, void*, void*, size_t)
SITE_FUNCTION struct block by_mi_heap_reallocf(void* heap, struct block old, size_t n) {
  void* address = mi_heap_reallocf(heap, old.address, n);
  ledger_freed(old);
  return ALLOCATED(address, n);
}

/* The old block is there in either case. */
NAMED(void*, mi_expand, void*, size_t)
SITE_FUNCTION struct block by_mi_expand(struct block old, size_t n) {
  void* address = mi_expand(old.address, n);
  if (!address) return old;
  return REALLOCATED(old, address, n);
}

/* These have the work done by others, from which their caller is seen. */
static struct ledger_site in_mi_reallocarray
    __attribute__((section("ledger_sites"), used)) = {"mi_reallocarr", 0, 0, 0, 0};
NAMED(int, mi_reallocarr, void*, size_t, size_t)
SITE_FUNCTION struct block by_mi_reallocarr(struct block old, size_t n) {
  void* address = old.address;
  ledger_require(mi_reallocarr(&address, n, 5) == 0, "mi_reallocarr succeeds");
  return ledger_reallocated(&in_mi_reallocarray, old, address, n * 5);
}
static struct ledger_site in_mi_wcsdup __attribute__((section("ledger_sites"), used)) = {"mi_wcsdup", 0, 0, 0, 0};
NAMED(void*, mi_wcsdup, const uint16_t*)
SITE_FUNCTION struct block by_mi_wcsdup(void) {
  static const uint16_t text[] = {'m', 'i', 0};
  return ledger_allocated(&in_mi_wcsdup, mi_wcsdup(text), sizeof(text));
}

/* Their result tells how long it is. */
NAMED(char*, mi_strdup, const char*)
NAMED(char*, mi_strndup, const char*, size_t)
NAMED(char*, mi_heap_strdup, void*, const char*)
NAMED(char*, mi_heap_strndup, void*, const char*, size_t)
SITE_FUNCTION struct block by_mi_strdup(const char* text) { return ALLOCATED(mi_strdup(text), strlen(text) + 1); }
SITE_FUNCTION struct block by_mi_strndup(const char* text, size_t n) {
  return ALLOCATED(mi_strndup(text, n), strnlen(text, n) + 1);
}
SITE_FUNCTION struct block by_mi_heap_strdup(void* heap, const char* text) {
  return ALLOCATED(mi_heap_strdup(heap, text), strlen(text) + 1);
}
SITE_FUNCTION struct block by_mi_heap_strndup(void* heap, const char* text, size_t n) {
  return ALLOCATED(mi_heap_strndup(heap, text, n), strnlen(text, n) + 1);
}
static struct ledger_site in_mi_dupenv_s __attribute__((section("ledger_sites"), used)) = {"mi_dupenv_s", 0, 0, 0, 0};
NAMED(int, mi_dupenv_s, char**, size_t*, const char*)
SITE_FUNCTION struct block by_mi_dupenv_s(const char* text) {
  char* copy = NULL;
  ledger_require(mi_dupenv_s(&copy, NULL, "LEDGER_TEXT") == 0 && copy, "mi_dupenv_s succeeds");
  return ledger_allocated(&in_mi_dupenv_s, copy, strlen(text) + 1);
}

static void give_back(struct block block, size_t number) {
  switch (number % 4) {
    case 0:
      mi_free(block.address);
      break;
    case 1:
      mi_cfree(block.address);
      break;
    case 2:
      mi_free_size(block.address, block.bytes);
      break;
    default:
      mi_free_size_aligned(block.address, block.bytes, 8);
      break;
  }
  ledger_freed(block);
}
static void keep_every_second(struct block block, size_t number) {
  if (number % 2) give_back(block, number / 2);
}

static void allocate(void* heap, size_t n, size_t i) {
  keep_every_second(by_mi_malloc_small(n % 1000), i);
  keep_every_second(by_mi_malloc_aligned(n), i);
  keep_every_second(by_mi_malloc_aligned_at(n), i);
  keep_every_second(by_mi_zalloc_aligned_at(n), i);
  keep_every_second(by_mi_mallocn(n), i);
  keep_every_second(by_mi_calloc_aligned(n), i);
  keep_every_second(by_mi_new_n(n), i);
  keep_every_second(by_mi_heap_malloc(heap, n), i);
  keep_every_second(by_mi_heap_zalloc(heap, n), i);
  keep_every_second(by_mi_heap_malloc_small(heap, n % 1000), i);
  keep_every_second(by_mi_heap_malloc_aligned(heap, n), i);
  keep_every_second(by_mi_heap_calloc(heap, n), i);
  keep_every_second(by_mi_heap_mallocn(heap, n), i);
  keep_every_second(by_mi_heap_calloc_aligned_at(heap, n), i);
  keep_every_second(by_mi_heap_alloc_new(heap, n), i);
  keep_every_second(by_mi_heap_alloc_new_n(heap, n), i);
  keep_every_second(by_mi_wcsdup(), i);
}

static void resize(void* heap, size_t n, size_t i) {
  keep_every_second(by_mi_realloc_aligned_at(by_mi_malloc_aligned_at(n), n * 2), i);
  keep_every_second(by_mi_reallocn(by_mi_mallocn(n), n), i);
  keep_every_second(by_mi_rezalloc(by_mi_heap_zalloc(heap, n), n * 2), i);
  keep_every_second(by_mi_recalloc(by_mi_heap_calloc(heap, n), n), i);
  keep_every_second(by_mi_recalloc_aligned(by_mi_calloc_aligned(n), n), i);
  keep_every_second(by_mi_new_realloc(by_mi_mallocn(n), n * 5), i);
  keep_every_second(by_mi_new_reallocn(by_mi_mallocn(n), n), i);
  keep_every_second(by_mi_heap_realloc(heap, by_mi_heap_malloc(heap, n), n * 2), i);
  keep_every_second(by_mi_heap_reallocn(heap, by_mi_heap_malloc(heap, n), n), i);
  keep_every_second(by_mi_heap_rezalloc_aligned(heap, by_mi_heap_zalloc(heap, n), n * 2), i);
  keep_every_second(by_mi_heap_recalloc(heap, by_mi_heap_calloc(heap, n), n), i);
  keep_every_second(by_mi_reallocarr(by_mi_mallocn(n), n), i);
}

static void fail_or_not(void* heap, size_t n, size_t i) {
  keep_every_second(by_reallocf(by_mi_mallocn(n), n * 2), i);
  by_reallocf(by_mi_mallocn(n), PTRDIFF_MAX);
  keep_every_second(by_mi_heap_reallocf(heap, by_mi_heap_malloc(heap, n), n * 2), i);
  by_mi_heap_reallocf(heap, by_mi_heap_malloc(heap, n), PTRDIFF_MAX);
  keep_every_second(by_mi_realloc_aligned_at(by_mi_malloc_aligned_at(n), PTRDIFF_MAX), i);
  keep_every_second(by_mi_heap_realloc(heap, by_mi_heap_malloc(heap, n), PTRDIFF_MAX), i);
  struct block block = by_mi_heap_malloc(heap, n);
  block = by_mi_expand(block, mi_usable_size(block.address));
  block = by_mi_expand(block, 1000000);
  block = by_mi_expand(block, 0);
  keep_every_second(block, i);
}

/* Of all lengths, those among them at which what is read in one piece ends. */
static void copy_strings(void* heap) {
  static char text[100001];
  const size_t lengths[] = {0, 1, 7, 126, 127, 128, 253, 254, 255, 256, 4096, sizeof(text) - 1};
  for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
    memset(text, 'x', lengths[i]);
    text[lengths[i]] = 0;
    keep_every_second(by_mi_strdup(text), i);
    keep_every_second(by_mi_strndup(text, 100), i);
    keep_every_second(by_mi_strndup(text, 200000), i);
    keep_every_second(by_mi_heap_strdup(heap, text), i);
    keep_every_second(by_mi_heap_strndup(heap, text, 127), i);
  }
  ledger_require(!mi_strdup(NULL), "there is nothing to copy");
  keep_every_second(by_mi_dupenv_s("text"), 1);
}

int main(void) {
  void* heap = mi_heap_new();
  setenv("LEDGER_TEXT", "text", 1);
  ledger_begin();
  for (size_t i = 0; i < 60; i++) {
    size_t n = 8 + i * i * 7 % 4999;
    allocate(heap, n, i);
    resize(heap, n, i);
    fail_or_not(heap, n, i);
  }
  copy_strings(heap);
  mi_collect(1);
  ledger_end();
  return 0;
}
