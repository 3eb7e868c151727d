/* Threads that hand blocks to each other: each gives half of its blocks to the next one, which frees them; the first
 * ends before any of its blocks is freed. All allocate by the same function from the same place, so that nothing but
 * the thread tells their blocks apart. Then the main thread puts blocks into a queue, of which a pool of threads takes
 * them, whichever is first, to free them and to give an answer back, which the main thread frees. */
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "ledger.h"

enum { kWorkers = 3, kBlocks = 40, kHanded = 20, kOwn = 10, kPool = 2, kRequests = 50 };

static struct block blocks[kWorkers][kBlocks];
static uint64_t tids[kWorkers];
static pthread_barrier_t begin, allocated, first_is_gone;

SITE_FUNCTION struct block by_worker(size_t n) { return ALLOCATED(malloc(n), n); }

static void release_some(size_t worker, size_t from, size_t to) {
  for (size_t i = from; i < to; i++) release(blocks[worker][i]);
}

static void* work(void* argument) {
  size_t worker = (size_t)argument;
  tids[worker] = (uint64_t)syscall(SYS_gettid);
  pthread_barrier_wait(&begin);
  prctl(PR_SET_NAME, worker == 0 ? "first" : "others");
  for (size_t i = 0; i < kBlocks; i++) blocks[worker][i] = by_worker(100 * (worker + 1) + i);
  pthread_barrier_wait(&allocated);
  if (worker == 0) return NULL;
  pthread_barrier_wait(&first_is_gone);
  release_some(worker - 1, 0, kHanded);
  release_some(worker, kHanded, kHanded + kOwn);
  return NULL;
}

SITE_FUNCTION struct block request(size_t n) { return ALLOCATED(malloc(n), n); }
SITE_FUNCTION struct block answer(size_t n) { return ALLOCATED(malloc(n), n); }

static struct block requests[kRequests], answers[kRequests];
static size_t taken;

static void* serve(void* argument) {
  (void)argument;
  for (size_t i; (i = __atomic_fetch_add(&taken, 1, __ATOMIC_ACQ_REL)) < kRequests;) {
    release(requests[i]);
    answers[i] = answer(500 + i);
  }
  return NULL;
}

static void run_pool(void) {
  pthread_t pool[kPool];
  for (size_t i = 0; i < kRequests; i++) requests[i] = request(300 + i);
  for (size_t i = 0; i < kPool; i++) pthread_create(&pool[i], NULL, serve, NULL);
  for (size_t i = 0; i < kPool; i++) pthread_join(pool[i], NULL);
  for (size_t i = 0; i < kRequests / 2; i++) release(answers[i]);
}

int main(void) {
  pthread_t threads[kWorkers];
  pthread_barrier_init(&begin, NULL, kWorkers + 1);
  pthread_barrier_init(&allocated, NULL, kWorkers);
  pthread_barrier_init(&first_is_gone, NULL, kWorkers);
  for (size_t i = 0; i < kWorkers; i++) pthread_create(&threads[i], NULL, work, (void*)i);
  ledger_begin();
  pthread_barrier_wait(&begin);
  pthread_join(threads[0], NULL);
  pthread_barrier_wait(&first_is_gone);
  for (size_t i = 1; i < kWorkers; i++) pthread_join(threads[i], NULL);
  release_some(kWorkers - 1, 0, kOwn); /* by the main thread */
  run_pool();
  static const char* const kNames[kWorkers] = {"tid_0", "tid_1", "tid_2"};
  for (size_t i = 0; i < kWorkers; i++) {
    ledger_value(kNames[i], tids[i]);
    ledger_varies(kNames[i]);
  }
  ledger_end();
  return 0;
}
