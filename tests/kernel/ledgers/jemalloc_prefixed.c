/* A jemalloc that is linked into the program, and has its functions behind a prefix (LEDGER_PREFIX). */
#include "ledger.h"

#define JOINED(a, b) a##b
#define WITH_PREFIX(prefix, name) JOINED(prefix, name)
#define PREFIXED(name) WITH_PREFIX(LEDGER_PREFIX, name)

enum { kBlocks = 100 };

void* PREFIXED(malloc)(size_t);
void* PREFIXED(calloc)(size_t, size_t);
void* PREFIXED(realloc)(void*, size_t);
void PREFIXED(free)(void*);
int PREFIXED(posix_memalign)(void**, size_t, size_t);
void* PREFIXED(mallocx)(size_t, int);
void* PREFIXED(rallocx)(void*, size_t, int);
size_t PREFIXED(xallocx)(void*, size_t, size_t, int);
size_t PREFIXED(sallocx)(const void*, int);
void PREFIXED(sdallocx)(void*, size_t, int);
int PREFIXED(mallctl)(const char*, void*, size_t*, void*, size_t);

SITE_FUNCTION struct block by_malloc(size_t n) { return ALLOCATED(PREFIXED(malloc)(n), n); }
SITE_FUNCTION struct block by_calloc(size_t n) { return ALLOCATED(PREFIXED(calloc)(n, 3), 3 * n); }
SITE_FUNCTION struct block by_realloc(struct block old, size_t n) {
  return REALLOCATED(old, PREFIXED(realloc)(old.address, n), n);
}
SITE_FUNCTION struct block by_posix_memalign(size_t n) {
  void* address = NULL;
  ledger_require(!PREFIXED(posix_memalign)(&address, 64, n), "posix_memalign succeeds");
  return ALLOCATED(address, n);
}
SITE_FUNCTION struct block by_mallocx(size_t n) { return ALLOCATED(PREFIXED(mallocx)(n, 0), n); }
SITE_FUNCTION struct block by_rallocx(struct block old, size_t n) {
  return REALLOCATED(old, PREFIXED(rallocx)(old.address, n, 0), n);
}
SITE_FUNCTION struct block by_xallocx(struct block old, size_t n) {
  ledger_require(PREFIXED(xallocx)(old.address, n, 0, 0) >= n, "there is room");
  return REALLOCATED(old, old.address, n);
}
SITE_FUNCTION struct block by_malloc_of_libc(size_t n) { return ALLOCATED(malloc(n), n); }

static void give_back(struct block block, size_t number) {
  if (number % 2) {
    PREFIXED(free)(block.address);
  } else {
    PREFIXED(sdallocx)(block.address, block.bytes, 0);
  }
  ledger_freed(block);
}

int main(void) {
  ledger_begin();
  for (size_t i = 1; i <= kBlocks; i++) {
    give_back(by_realloc(by_malloc(i * 7), i * 70), i);
    give_back(by_rallocx(by_mallocx(i * 11), i * 70), i);
    struct block block = by_calloc(i);
    give_back(by_xallocx(block, PREFIXED(sallocx)(block.address, 0)), i);
    by_posix_memalign(i * 5);
    release(by_malloc_of_libc(i));
  }
  unsigned arena = 0;
  size_t bytes = sizeof(arena);
  ledger_require(!PREFIXED(mallctl)("arenas.create", &arena, &bytes, NULL, 0) && arena < 10000, "there is an arena");
  char name[] = "arena.0000.reset";
  for (char* digit = name + 9; arena; arena /= 10) *digit-- = (char)('0' + arena % 10);
  ledger_require(!PREFIXED(mallctl)(name, NULL, NULL, NULL, 0), "an arena is reset");
  ledger_loss("unfollowed_calls", 1);
  ledger_end();
  return 0;
}
