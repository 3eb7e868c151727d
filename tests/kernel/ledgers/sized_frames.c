/* Frames whose size is known at run time only (alloca, VLAs), and one of 10 MB. */
#include <alloca.h>
#include <pthread.h>

#include "noted_stacks.h"

enum { kRounds = 40, kHugeFrame = 10 << 20, kStackBytes = 64 << 20 };

static pthread_barrier_t start;

SITE_FUNCTION struct block by_malloc(size_t n) {
  NOTE_STACK();
  return ALLOCATED(malloc(n), n);
}

SITE_FUNCTION struct block with_alloca(size_t n) {
  volatile char* room = alloca(n * 37 + 1);
  room[n * 37] = 1;
  struct block block = by_malloc(n);
  ledger_require(room[n * 37] == 1, "the room keeps what is written");
  return block;
}

SITE_FUNCTION struct block with_array(size_t n) {
  volatile int room[n * 11 + 1];
  room[n * 11] = 2;
  struct block block = n % 2 ? by_malloc(n) : with_alloca(n);
  ledger_require(room[n * 11] == 2, "the array keeps what is written");
  return block;
}

SITE_FUNCTION struct block in_turn(size_t levels, size_t n) {
  struct block block = levels == 0 ? by_malloc(n) : with_array(n);
  if (levels > 1) {
    release(block);
    block = in_turn(levels - 1, n + 1);
  }
  __asm__ volatile("" ::: "memory");
  return block;
}

SITE_FUNCTION struct block with_huge_frame(size_t n) {
  volatile char room[kHugeFrame];
  room[0] = 3;
  room[kHugeFrame - 1] = 4;
  struct block block = in_turn(n % 4, n);
  ledger_require(room[0] + room[kHugeFrame - 1] == 7, "the room keeps what is written");
  return block;
}

static void allocate(struct block (*function)(size_t)) {
  for (size_t i = 1; i <= kRounds; i++) {
    struct block block = function(i);
    if (i % 3) release(block);
  }
}

static void* work(void* argument) {
  pthread_barrier_wait(&start);
  allocate(with_huge_frame);
  return argument;
}

int main(void) {
  pthread_t thread;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  ledger_require(pthread_attr_setstacksize(&attributes, kStackBytes) == 0, "the size is accepted");
  pthread_barrier_init(&start, NULL, 2);
  ledger_require(pthread_create(&thread, &attributes, work, NULL) == 0, "the thread can be created");
  ledger_begin();
  allocate(with_alloca);
  allocate(with_array);
  pthread_barrier_wait(&start);
  pthread_join(thread, NULL);
  ledger_end();
  return 0;
}
