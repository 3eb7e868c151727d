// Calls of every allocator function, each between two breakpoints that tell the test what is asked for and what came of
// it. Its own functions run at full speed in between.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

void* memalign(size_t alignment, size_t size);
void* valloc(size_t size);
void* pvalloc(size_t size);

enum { kBlocks = 256 };

static __thread uint64_t random_state = 88172645463325252ull;
static uint64_t next_random(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state;
}

// The test begins to step behind the first, and stops at the second.
static inline void begin(uint64_t size, uint64_t is_unseen) {
  __asm__ volatile("int3" : : "a"(1), "D"(size), "S"(is_unseen) : "memory");
}
static inline void end(const void* result) { __asm__ volatile("int3" : : "a"(2), "D"(result) : "memory"); }

static void* hidden(void* pointer) {
  __asm__ volatile("" : "+r"(pointer));
  return pointer;
}

#define CALL(size, expression)       \
  ({                                 \
    begin(size, 0);                  \
    void* made = hidden(expression); \
    end(made);                       \
    made;                            \
  })

static void* by_posix_memalign(size_t alignment, size_t size) {
  void* made = NULL;
  begin(size, 0);
  int error = posix_memalign(&made, alignment, size);
  made = error ? NULL : made;
  end(made);
  return made;
}

static void* (*operator_new)(size_t);

static size_t some_size(void) {
  uint64_t number = next_random();
  switch (number % 16) {
    case 0:
      return number >> 8 & 0xffff;
    case 1:
      return 100000 + (number >> 8 & 0x1ffff);
    case 2:
    case 3:
      return number >> 8 & 0xfff;
    default:
      return number >> 8 & 0x1ff;
  }
}

static void* make(size_t size) {
  uint64_t number = next_random();
  size_t alignment = (size_t)8 << (number >> 32) % 8;
  switch (number % 12) {
    case 0:
      return CALL(size % 900 * 3, calloc(size % 900, 3));
    case 1:
      return CALL(size, aligned_alloc(alignment, size));
    case 2:
      return CALL(size, memalign(alignment, size));
    case 3:
      return by_posix_memalign(alignment, size);
    case 4:
      return operator_new ? CALL(size, operator_new(size)) : CALL(size, malloc(size));
    case 5:
      return CALL(size, realloc(NULL, size));
    default:
      return CALL(size, malloc(size));
  }
}

static void* change(void* block, size_t size) {
  size += !size;
  if (size % 3) return CALL(size, realloc(block, size));
#ifdef __GLIBC__
  return CALL(size * 2, reallocarray(block, size, 2));
#else
  return CALL(size * 2, realloc(block, size * 2));
#endif
}

static void churn(int count) {
  void* blocks[kBlocks] = {0};
  for (int i = 0; i < count; ++i) {
    void** block = &blocks[next_random() % kBlocks];
    if (!*block) {
      *block = make(some_size());
    } else if (next_random() % 4 == 0) {
      *block = change(*block, some_size());
    } else {
      free(*block);
      *block = NULL;
    }
  }
  for (int i = 0; i < kBlocks; ++i) free(blocks[i]);
}

static void fail(void) {
  volatile size_t huge = PTRDIFF_MAX, half = (size_t)1 << 33;
  CALL(huge, malloc(huge + 5));
  CALL(huge, calloc(half, half));
  CALL(huge, calloc(1, huge));
  void* block = CALL(64, malloc(64));
  CALL(huge, realloc(block, huge));
  free(block);
  CALL(huge, aligned_alloc(64, huge - 100));
  by_posix_memalign(24, 100);
  by_posix_memalign(64, huge);
  struct rlimit before, limit;
  getrlimit(RLIMIT_AS, &before);
  limit = before;
  limit.rlim_cur = 1 << 20;
  setrlimit(RLIMIT_AS, &limit);
  void* many[8];
  for (int i = 0; i < 8; ++i) many[i] = CALL(200000, malloc(200000));
  for (int i = 0; i < 8; ++i) free(many[i]);
  CALL(half, malloc(half));
  setrlimit(RLIMIT_AS, &before);
}

static void* in_thread(void* count) {
  churn((int)(intptr_t)count);
  return NULL;
}

static volatile int stop;
static void* disturb(void* unused) {
  while (!stop) free(hidden(malloc(2000)));
  return unused;
}

// Other allocators leave some functions to libc.
static int is_of_allocator(void* function) {
#ifdef STATIC_PROGRAM
  return function != NULL;
#else
  Dl_info here, there;
  return dladdr(dlsym(RTLD_DEFAULT, "malloc"), &here) && dladdr(function, &there) && here.dli_fbase == there.dli_fbase;
#endif
}

int main(int argc, char** argv) {
  int count = argc > 1 ? atoi(argv[1]) : 100;
#ifndef STATIC_PROGRAM
  operator_new = (void* (*)(size_t))dlsym(RTLD_DEFAULT, "_Znwm");
  if (!is_of_allocator((void*)operator_new)) operator_new = NULL;
#endif
  CALL(24, malloc(24));
  CALL(4096 - 100, valloc(4096 - 100));
  if (is_of_allocator((void*)pvalloc)) CALL(5000, pvalloc(5000));
  churn(count);
  fail();
  pthread_t thread;
  pthread_create(&thread, NULL, in_thread, (void*)(intptr_t)(count / 4));
  pthread_join(thread, NULL);
  pthread_create(&thread, NULL, disturb, NULL);
  churn(count / 4);
  stop = 1;
  pthread_join(thread, NULL);
  begin(0, 2);
  return 0;
}
