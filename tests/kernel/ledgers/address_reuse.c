/* Addresses that thread after thread is given: each thread puts its block on a shelf and frees what lay there, mostly
 * another's, in one heap. A free that is counted late, or an allocation early, finds another's block. */
#include <malloc.h>
#include <pthread.h>

#include "ledger.h"

enum { kThreads = 4, kRounds = 40000, kSlots = 64, kSeen = 4096 };

/* A slot of the shelf, locked while a thread exchanges what lies there. */
static struct {
  pthread_spinlock_t lock;
  struct block block;
} shelf[kSlots];
/* By address: the thread that was given it last. */
static struct {
  void* address;
  size_t thread;
} seen[kSeen];
static pthread_barrier_t start;
static uint64_t handovers;

SITE_FUNCTION struct block even_thread(size_t n) { return ALLOCATED(malloc(n), n); }
SITE_FUNCTION struct block odd_thread(size_t n) { return ALLOCATED(malloc(n), n); }

/* Not exact, for it is not locked; a wrong number is as good. */
static void note(void* address, size_t thread) {
  size_t at = (uintptr_t)address / 64 % kSeen;
  if (seen[at].address == address && seen[at].thread != thread) __atomic_fetch_add(&handovers, 1, __ATOMIC_RELAXED);
  seen[at].address = address;
  seen[at].thread = thread;
}

static void* work(void* argument) {
  size_t number = (size_t)argument;
  uint32_t random = (uint32_t)number + 1;
  pthread_barrier_wait(&start);
  for (size_t i = 0; i < kRounds; i++) {
    random = random * 1664525u + 1013904223u;
    size_t n = 1100 + (random >> 8) % 4 * 500; /* too large for glibc's cache of each thread */
    struct block block = number % 2 ? odd_thread(n) : even_thread(n);
    note(block.address, number);
    size_t slot = (random >> 20) % kSlots;
    pthread_spin_lock(&shelf[slot].lock);
    struct block old = shelf[slot].block;
    shelf[slot].block = block;
    pthread_spin_unlock(&shelf[slot].lock);
    release(old);
  }
  return NULL;
}

int main(void) {
  pthread_t threads[kThreads];
  mallopt(M_ARENA_MAX, 1);
  pthread_barrier_init(&start, NULL, kThreads + 1);
  for (size_t i = 0; i < kSlots; i++) pthread_spin_init(&shelf[i].lock, PTHREAD_PROCESS_PRIVATE);
  for (size_t i = 0; i < kThreads; i++)
    ledger_require(pthread_create(&threads[i], NULL, work, (void*)i) == 0, "threads can be created");
  ledger_begin();
  pthread_barrier_wait(&start);
  for (size_t i = 0; i < kThreads; i++) pthread_join(threads[i], NULL);
  ledger_require_of_traced(handovers > 1000, "addresses change hands");
  ledger_varies("even_thread"); /* whose blocks stay on the shelf */
  ledger_varies("odd_thread");
  ledger_end();
  return 0;
}
