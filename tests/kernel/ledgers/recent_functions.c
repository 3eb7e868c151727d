/* Calls of recent_allocator.c. */
#include "ledger.h"

struct sized_block {
  void* block;
  size_t bytes;
};
void* mi_malloc(size_t);
void mi_free(void*);
void* mi_umalloc(size_t, size_t*);
void* mi_umalloc_aligned(size_t, size_t, size_t*);
void* mi_ucalloc(size_t, size_t, size_t*);
void* mi_urealloc(void*, size_t, size_t*, size_t*);
void mi_ufree(void*, size_t*);
void* mi_theap_malloc(void*, size_t);
void* mi_theap_calloc(void*, size_t, size_t);
void* mi_theap_realloc(void*, void*, size_t);
int mi_theap_unload(void*);
struct sized_block tcmalloc_size_returning_operator_new(size_t);
struct sized_block tcmalloc_size_returning_operator_new_aligned_nothrow(size_t, size_t);
struct sized_block alloc_at_least(size_t);
struct sized_block aligned_alloc_at_least(size_t, size_t);
struct sized_block smallocx_0123456789abcdef(size_t, int);

static size_t before, after;
static char theap[1];

SITE_FUNCTION struct block by_mi_umalloc(size_t n) { return ALLOCATED(mi_umalloc(n, &after), n); }
SITE_FUNCTION struct block by_mi_umalloc_aligned(size_t n) { return ALLOCATED(mi_umalloc_aligned(n, 64, &after), n); }
SITE_FUNCTION struct block by_mi_ucalloc(size_t n) { return ALLOCATED(mi_ucalloc(3, n, &after), 3 * n); }
SITE_FUNCTION struct block by_mi_urealloc(struct block old, size_t n) {
  return REALLOCATED(old, mi_urealloc(old.address, n, &before, &after), n);
}
SITE_FUNCTION struct block by_mi_theap_malloc(size_t n) { return ALLOCATED(mi_theap_malloc(theap, n), n); }
SITE_FUNCTION struct block by_mi_theap_calloc(size_t n) { return ALLOCATED(mi_theap_calloc(theap, 5, n), 5 * n); }
SITE_FUNCTION struct block by_mi_theap_realloc(struct block old, size_t n) {
  return REALLOCATED(old, mi_theap_realloc(theap, old.address, n), n);
}
SITE_FUNCTION struct block by_new(size_t n) { return ALLOCATED(tcmalloc_size_returning_operator_new(n).block, n); }
SITE_FUNCTION struct block by_aligned_new(size_t n) {
  return ALLOCATED(tcmalloc_size_returning_operator_new_aligned_nothrow(n, 128).block, n);
}
SITE_FUNCTION struct block by_alloc_at_least(size_t n) { return ALLOCATED(alloc_at_least(n).block, n); }
SITE_FUNCTION struct block by_aligned_alloc_at_least(size_t n) {
  return ALLOCATED(aligned_alloc_at_least(64, n).block, n);
}
SITE_FUNCTION struct block by_smallocx(size_t n, int flags) {
  return ALLOCATED(smallocx_0123456789abcdef(n, flags).block, n);
}

static void give_back(struct block block) {
  mi_ufree(block.address, &before);
  ledger_freed(block);
}

int main(void) {
  ledger_begin();
  for (size_t i = 1; i <= 50; i++) {
    give_back(by_mi_urealloc(by_mi_umalloc(i), 2 * i));
    by_mi_umalloc_aligned(3 * i);
    give_back(by_mi_ucalloc(i));
    give_back(by_mi_theap_realloc(by_mi_theap_malloc(i), 7 * i));
    release(by_mi_theap_calloc(i));
    release(by_new(11 * i));
    by_aligned_new(13 * i);
    release(by_alloc_at_least(17 * i));
    release(by_aligned_alloc_at_least(19 * i));
    release(by_smallocx(23 * i, 0));
    by_smallocx(i, -1);
  }
  ledger_require(mi_theap_unload(theap), "a function that is not known can be called");
  ledger_loss("unfollowed_calls", 1);
  ledger_end();
  return 0;
}
