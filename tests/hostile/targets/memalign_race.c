/* A thread frees what posix_memalign gives as soon as it is written down, before the call has returned. */
#define _GNU_SOURCE
#include <pthread.h>

#include "hostile.h"

static void* given;
static int stop;
static struct ledger_site* site;
enum { kRounds = 2000, kBytes = 100 };

static void* take(void* nothing) {
  while (!__atomic_load_n(&stop, __ATOMIC_SEQ_CST)) {
    void* block = __atomic_exchange_n(&given, NULL, __ATOMIC_SEQ_CST);
    if (!block) continue;
    free(block);
    ledger_freed((struct block){block, kBytes, site});
  }
  return nothing;
}
SITE_FUNCTION void give(void) {
  site = THIS_SITE;
  if (posix_memalign(&given, 64, kBytes) == 0) ledger_allocated(site, &given, kBytes);
  while (__atomic_load_n(&given, __ATOMIC_SEQ_CST)) continue;
}

int main(void) {
  pthread_t thread;
  ledger_require(pthread_create(&thread, NULL, take, NULL) == 0, "a thread can be made");
  ledger_begin();
  for (int i = 0; i < kRounds; i++) give();
  __atomic_store_n(&stop, 1, __ATOMIC_SEQ_CST);
  pthread_join(thread, NULL);
  ledger_end();
  return 0;
}
