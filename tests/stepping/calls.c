// Calls of every allocator function, each between two breakpoints that show the test the request and the result. Its
// own functions run at full speed in between.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
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
static inline void end(const void* result) { __asm__ volatile("int3" : : "a"(2), "D"(result), "S"(0) : "memory"); }

// The test does at once what these do.
static inline void tell_string_functions(void) {
  __asm__ volatile("int3" : : "a"(3), "D"(memset), "S"(memcpy), "d"(memmove) : "memory");
}

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
static void* (*operator_new_nothrow)(size_t, const void* nothrow);
static void* (*operator_new_aligned)(size_t, size_t alignment);
static const char nothrow;
#ifndef STATIC_PROGRAM
static int throws;
#endif

#ifdef CATCHES
// In catches.cpp: calls it, and returns null if it throws.
void* new_or_nothing(void* (*operator_new)(size_t), size_t size, int* has_thrown);

static void fail_new(size_t size) {
  int has_thrown = 0;
  begin(size, 0);
  void* made = new_or_nothing(operator_new, size, &has_thrown);
  __asm__ volatile("int3" : : "a"(2), "D"(made), "S"(has_thrown) : "memory");
}
#endif

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
    case 6:
      return operator_new_nothrow ? CALL(size, operator_new_nothrow(size, &nothrow)) : CALL(size, malloc(size));
    case 7:
      return operator_new_aligned ? CALL(size, operator_new_aligned(size, alignment)) : CALL(size, malloc(size));
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
  by_posix_memalign(8, huge + 5);
#ifdef CATCHES
  if (operator_new && throws) fail_new(huge);
  if (operator_new && throws) fail_new(huge / 2);
#endif
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

// Every size class: its list of free blocks taken until it is empty, and filled until it is full.
static void fill_and_empty(size_t step) {
  enum { kMore = 10 };  // than a list of glibc's thread cache takes
  void* blocks[kMore];
  for (size_t size = 0; size < 1200; size += step + next_random() % 16) {
    for (int round = 0; round < 2; ++round) {
      for (int i = 0; i < kMore; ++i) {
        blocks[i] = i % 3 == 2 ? CALL(size, calloc(1, size)) : CALL(size, malloc(size));
        // What is not zero yet has to be cleared when it is given out again.
        if (blocks[i] && size) *(volatile char*)blocks[i] = 1;
      }
      for (int i = 0; i < kMore; ++i) free(blocks[i]);
    }
  }
}

// Sizes from which on allocators map memory for each block; and blocks that grow and shrink.
static void big_blocks(void) {
  for (size_t size = (128 << 10) - 96; size < (128 << 10) + 96; size += 24) {
    void* block = CALL(size, malloc(size));
    block = CALL(size + 100000, realloc(block, size + 100000));
    block = CALL(size * 3, realloc(block, size * 3));
    block = CALL(5000, realloc(block, 5000));
    block = CALL(24, realloc(block, 24));
    free(block);
    free(CALL(size, calloc(size, 1)));
  }
  for (size_t size = 1 << 20; size < 64 << 20; size *= 2) {
    void* block = CALL(size, malloc(size));
    block = CALL(size + 4096, realloc(block, size + 4096));
    free(block);
    free(CALL(size, calloc(16, size / 16)));
  }
}

static void alignments(unsigned step) {
  for (unsigned shift = 0; shift < 22; shift += step) {
    size_t alignment = (size_t)1 << shift;
    for (size_t size = 0; size < 10000; size = size * 3 + 17) {
      free(CALL(size, memalign(alignment, size)));
      free(CALL(size, aligned_alloc(alignment, size)));
      free(by_posix_memalign(alignment, size));
    }
  }
  free(CALL(100, memalign(48, 100)));
  free(CALL(100, aligned_alloc(48, 100)));
  free(by_posix_memalign(48, 100));
  free(by_posix_memalign(0, 100));
  free(CALL(100, memalign(SIZE_MAX / 2 + 2, 100)));
  free(CALL(100, memalign((size_t)1 << 62, 100)));
  volatile size_t most = SIZE_MAX - 100;
  free(CALL(most, memalign(4096, most)));
  free(CALL(most, aligned_alloc(4096, most)));
  free(by_posix_memalign(4096, most));
}

static void* in_thread(void* count) {
  churn((int)(intptr_t)count);
  fail();
  return NULL;
}

// The first call of a thread.
static void* first_call(void* number) {
  random_state += (uint64_t)(intptr_t)number * 0x9e3779b97f4a7c15ull;
  void* block = NULL;
  switch ((intptr_t)number % 6) {
    case 0:
      block = CALL(40, malloc(40));
      break;
    case 1:
      block = CALL(40, calloc(4, 10));
      break;
    case 2:
      block = CALL(40, realloc(NULL, 40));
      break;
    case 3:
      block = CALL(40, memalign(64, 40));
      break;
    case 4:
      block = by_posix_memalign(64, 40);
      break;
    default:
      block = operator_new ? CALL(40, operator_new(40)) : CALL(40, aligned_alloc(32, 40));
      break;
  }
  churn(10);
  free(block);
  return NULL;
}

static void run_thread(void* (*function)(void*), intptr_t argument) {
  pthread_t thread;
  pthread_create(&thread, NULL, function, (void*)argument);
  pthread_join(thread, NULL);
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

#ifndef STATIC_PROGRAM
static void* of_allocator(const char* name) {
  void* function = dlsym(RTLD_DEFAULT, name);
  return is_of_allocator(function) ? function : NULL;
}
#endif

int main(int argc, char** argv) {
  int count = argc > 1 ? atoi(argv[1]) : 100;
#ifndef STATIC_PROGRAM
  operator_new = (void* (*)(size_t))of_allocator("_Znwm");
  // mimalloc, in C, does not throw: it aborts.
  throws = dlsym(RTLD_DEFAULT, "mi_new") == NULL;
  operator_new_nothrow = (void* (*)(size_t, const void*))of_allocator("_ZnwmRKSt9nothrow_t");
  operator_new_aligned = (void* (*)(size_t, size_t))of_allocator("_ZnwmSt11align_val_t");
#endif
  tell_string_functions();
  CALL(24, malloc(24));
  CALL(4096 - 100, valloc(4096 - 100));
#ifdef __GLIBC__
  if (is_of_allocator((void*)pvalloc)) CALL(5000, pvalloc(5000));
#endif
  churn(count);
  fill_and_empty(count > 1000 ? 1 : 100);
  big_blocks();
  alignments(count > 1000 ? 1 : 5);
  fail();
  for (int i = 0; i < 6; ++i) run_thread(first_call, i);
  run_thread(in_thread, count / 4);
  pthread_t disturbing, stepped;
  pthread_create(&disturbing, NULL, disturb, NULL);
  pthread_create(&stepped, NULL, in_thread, (void*)(intptr_t)(count / 4));
  churn(count / 4);
  stop = 1;
  pthread_join(stepped, NULL);
  pthread_join(disturbing, NULL);
  begin(0, 2);
  return 0;
}
