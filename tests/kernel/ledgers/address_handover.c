/* Two threads between which one address goes back and forth: realloc in one thread gives it up, malloc in the other
 * takes it, before the realloc has returned. A free that is counted at realloc's return is of the wrong block. */
#include <malloc.h>
#include <pthread.h>

#include "ledger.h"

enum { kRounds = 20000, kSmall = 4000, kLarge = 9000 }; /* both too large for glibc's per-thread cache */

static pthread_barrier_t start;
static void* volatile being_moved; /* the block that realloc is at work on, right now */
static volatile int moves_done;
static volatile uint64_t handovers;

SITE_FUNCTION struct block take(size_t n) { return ALLOCATED(malloc(n), n); }
SITE_FUNCTION struct block mover_takes(size_t n) { return ALLOCATED(malloc(n), n); }
SITE_FUNCTION struct block give_up(struct block old, size_t n) { return REALLOCATED(old, realloc(old.address, n), n); }

static void* take_and_free(void* argument) {
  (void)argument;
  pthread_barrier_wait(&start);
  while (!moves_done) {
    struct block block = take(kSmall);
    if (block.address == being_moved) handovers++; /* before realloc has returned: the race itself */
    release(block);
  }
  return NULL;
}

static void* move(void* argument) {
  (void)argument;
  pthread_barrier_wait(&start);
  for (size_t i = 0; i < kRounds || (handovers == 0 && i < 100 * kRounds); i++) {
    struct block block = mover_takes(kSmall);
    being_moved = block.address;
    struct block moved = give_up(block, kLarge);
    being_moved = NULL;
    release(moved);
  }
  moves_done = 1;
  return NULL;
}

int main(void) {
  pthread_t taker, mover;
  mallopt(M_ARENA_MAX, 1); /* one arena for both, or they would never share an address */
  pthread_barrier_init(&start, NULL, 3);
  pthread_create(&taker, NULL, take_and_free, NULL);
  pthread_create(&mover, NULL, move, NULL);
  ledger_begin();
  pthread_barrier_wait(&start);
  pthread_join(taker, NULL);
  pthread_join(mover, NULL);
  ledger_require_of_traced(handovers > 0, "an address changes hands");
  ledger_value("handovers", handovers);
  ledger_varies("handovers");
  ledger_varies("give_up");
  ledger_varies("mover_takes");
  ledger_varies("take");
  ledger_end();
  return 0;
}
