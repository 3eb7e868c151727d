/* tcmalloc's functions by its own names. */
#include "named_function.h"

NAMED(void*, tc_malloc, size_t)
NAMED(void*, tc_malloc_skip_new_handler, size_t)
NAMED(void*, tc_new, size_t)
NAMED(void*, tc_new_aligned, size_t, size_t)
NAMED(void*, tc_newarray_nothrow, size_t, const void*)
NAMED(void*, tc_realloc, void*, size_t)
NAMED(void, tc_free, void*)
NAMED(void, tc_free_sized, void*, size_t)
NAMED(void, tc_delete, void*)
NAMED(void, tc_delete_sized, void*, size_t)
NAMED(void, tc_deletearray_nothrow, void*, const void*)
NAMED(void, tc_delete_aligned, void*, size_t)
NAMED(size_t, tc_malloc_size, void*)

SITE_FUNCTION struct block by_tc_malloc(size_t n) { return ALLOCATED(tc_malloc(n), n); }
SITE_FUNCTION struct block by_tc_malloc_skip_new_handler(size_t n) {
  return ALLOCATED(tc_malloc_skip_new_handler(n), n);
}
SITE_FUNCTION struct block by_tc_new(size_t n) { return ALLOCATED(tc_new(n), n); }
SITE_FUNCTION struct block by_tc_new_aligned(size_t n) { return ALLOCATED(tc_new_aligned(n, 64), n); }
SITE_FUNCTION struct block by_tc_newarray_nothrow(size_t n) { return ALLOCATED(tc_newarray_nothrow(n, ""), n); }
SITE_FUNCTION struct block by_tc_realloc(struct block old, size_t n) {
  return REALLOCATED(old, tc_realloc(old.address, n), n);
}

int main(void) {
  ledger_begin();
  for (size_t i = 1; i <= 100; i++) {
    struct block block = by_tc_realloc(by_tc_malloc(i), 3 * i);
    ledger_require(tc_malloc_size(block.address) >= 3 * i, "tc_malloc_size knows the block");
    tc_free(block.address);
    ledger_freed(block);
    block = by_tc_malloc_skip_new_handler(i * 11);
    tc_free_sized(block.address, block.bytes);
    ledger_freed(block);
    block = by_tc_new(i * 13);
    if (i % 2) {
      tc_delete(block.address);
    } else {
      tc_delete_sized(block.address, block.bytes);
    }
    ledger_freed(block);
    block = by_tc_new_aligned(i * 64);
    tc_delete_aligned(block.address, 64);
    ledger_freed(block);
    block = by_tc_newarray_nothrow(i * 17);
    if (i % 2) continue;
    tc_deletearray_nothrow(block.address, "");
    ledger_freed(block);
  }
  ledger_end();
  return 0;
}
