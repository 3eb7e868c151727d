/* Independent counter for "-- CMD": linked before libc, it counts every call that reaches the allocator from the first
 * one on, the dynamic linker's and the C++ library's included. It knows the requested size of every block by address,
 * in a table of its own. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdint.h>

#include "ledger.h"

void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);

enum { kSlots = 1 << 18 };
static struct {
  void* address;
  size_t bytes;
} slots[kSlots];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t totals[4]; /* allocated bytes and count, freed bytes and count */
static uint64_t unknown_frees;

static size_t first_slot(const void* address) { return ((uintptr_t)address >> 4) * 0x9e3779b97f4a7c15u >> 46; }

/* Slots are never emptied, only marked as freed by a size of SIZE_MAX, so that probing stays simple. */
static void* came(void* address, size_t bytes) {
  if (!address) return address;
  pthread_mutex_lock(&lock);
  size_t at = first_slot(address);
  while (slots[at].address && slots[at].address != address) at = (at + 1) % kSlots;
  slots[at].address = address;
  slots[at].bytes = bytes;
  totals[0] += bytes;
  totals[1]++;
  pthread_mutex_unlock(&lock);
  return address;
}

static void went(void* address) {
  if (!address) return;
  pthread_mutex_lock(&lock);
  size_t at = first_slot(address);
  while (slots[at].address && slots[at].address != address) at = (at + 1) % kSlots;
  if (!slots[at].address || slots[at].bytes == SIZE_MAX) {
    unknown_frees++;
  } else {
    totals[2] += slots[at].bytes;
    totals[3]++;
    slots[at].bytes = SIZE_MAX;
  }
  pthread_mutex_unlock(&lock);
}

void* malloc(size_t n) { return came(__libc_malloc(n), n); }
void* calloc(size_t count, size_t each) { return came(__libc_calloc(count, each), count * each); }
void* memalign(size_t alignment, size_t n) { return came(__libc_memalign(alignment, n), n); }
void* aligned_alloc(size_t alignment, size_t n) { return came(__libc_memalign(alignment, n), n); }

int posix_memalign(void** result, size_t alignment, size_t n) {
  void* address = came(__libc_memalign(alignment, n), n);
  if (!address) return ENOMEM;
  *result = address;
  return 0;
}

void* realloc(void* old, size_t n) {
  void* address = __libc_realloc(old, n);
  if (address || n == 0) went(old);
  return came(address, n);
}

void free(void* address) {
  went(address);
  __libc_free(address);
}

void ledger_write_totals(void) {
  ledger_line("total", "-", totals, 4);
  ledger_value("untraced_frees", unknown_frees);
}
