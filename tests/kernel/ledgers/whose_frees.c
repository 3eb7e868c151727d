/* Frees of blocks that the live table does not know. Those are the program's that it makes itself, in a hook in the
 * middle of an allocator's call, too; of no block those that allocators make in their calls, and libc where a thread
 * ends with blocks in its cache. libc's free is probed where it has a frame: what it was called by is found through
 * that. */
#include <pthread.h>

#include "ledger.h"

enum { kBlocks = 100, kThreads = 20, kCached = 7 };

void* __libc_malloc(size_t bytes);
void __libc_free(void* block);
void give_back(void* block, size_t room);
extern void (*allocator_hook)(void);
extern void* block_to_give_back;

static void* older[2 * kBlocks];
static size_t next;
static pthread_barrier_t start;

SITE_FUNCTION struct block by_malloc(size_t n) { return ALLOCATED(malloc(n), n); }
SITE_FUNCTION struct block by_libc(size_t n) { return ALLOCATED(__libc_malloc(n), n); }

static void give_back_one(void) {
  give_back(older[next], 64 + next);
  next++;
}

static void* fill_cache(void* nothing) {
  struct block blocks[kCached];
  pthread_barrier_wait(&start);
  for (size_t i = 0; i < kCached; i++) blocks[i] = by_libc(100);
  for (size_t i = 0; i < kCached; i++) {
    ledger_freed(blocks[i]);
    __libc_free(blocks[i].address);
  }
  return nothing;
}

int main(void) {
  pthread_t threads[kThreads];
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  /* So small that libc keeps all of them, with what it has allocated for them before the trace. */
  pthread_attr_setstacksize(&attributes, 1 << 16);
  pthread_barrier_init(&start, NULL, kThreads + 1);
  for (size_t i = 0; i < kThreads; i++)
    ledger_require(pthread_create(&threads[i], &attributes, fill_cache, NULL) == 0, "the thread can be created");
  for (size_t i = 0; i < 2 * kBlocks; i++) older[i] = __libc_malloc(100 + i);
  ledger_begin();
  allocator_hook = give_back_one;
  for (size_t i = 1; i <= kBlocks; i++) by_malloc(i);
  allocator_hook = NULL;
  for (size_t i = 1; i <= kBlocks; i++) {
    block_to_give_back = older[next++];
    by_malloc(i);
  }
  pthread_barrier_wait(&start);
  for (size_t i = 0; i < kThreads; i++) pthread_join(threads[i], NULL);
  ledger_value("untraced_frees", kBlocks);
  ledger_end();
  return 0;
}
