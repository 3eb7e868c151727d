/* Says with libgcc's unwinder how its stack looks, and then allocates: from plain calls, from a callback that libc
 * makes, from a signal handler, from a frame that is aligned to 64 bytes, from one of variable size, and from a thread.
 * Every line of output is one stack, innermost first; the first address is that of the call of backtrace(), not of the
 * allocator. */
#define _GNU_SOURCE
#include <alloca.h>
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline, noclone))
enum { kFrames = 64, kCalls = 8 };

static void* volatile block;
static volatile int sink;

NOINLINE static void allocate(void) {
  void* frames[kFrames];
  int count = backtrace(frames, kFrames);
  for (int i = 0; i < count; ++i) printf("%lx%c", (unsigned long)frames[i], i + 1 < count ? ' ' : '\n');
  for (int i = 0; i < kCalls; ++i) free(block = malloc(32)); /* one of two is dumped */
}

NOINLINE static void recurse(int depth) {
  if (depth > 0) {
    recurse(depth - 1);
  } else {
    allocate();
  }
  sink = depth; /* no tail call */
}

static int compare_once(const void* left, const void* right) {
  static int done;
  if (!done++) allocate();
  return *(const int*)left - *(const int*)right;
}

static void on_signal(int number) {
  (void)number;
  allocate();
  sink = number;
}

NOINLINE static void realigned(int bytes) {
  _Alignas(64) char aligned[128];
  char* variable = alloca((size_t)bytes);
  memset(variable, 1, (size_t)bytes);
  memset(aligned, 2, sizeof(aligned));
  __asm__ volatile("" : : "r"(variable), "r"(aligned) : "memory");
  recurse(2);
  __asm__ volatile("" : : "r"(variable), "r"(aligned) : "memory");
}

static void* of_thread(void* argument) {
  recurse(4);
  return argument;
}

int main(void) {
  void* frame;
  backtrace(&frame, 1); /* loads libgcc */
  setvbuf(stdout, NULL, _IOFBF, 1 << 16);
  recurse(10);
  int numbers[] = {3, 1, 2};
  qsort(numbers, 3, sizeof(numbers[0]), compare_once);
  signal(SIGUSR1, on_signal);
  raise(SIGUSR1);
  sink = numbers[0];
  realigned(100 + sink);
  pthread_t thread;
  if (pthread_create(&thread, NULL, of_thread, NULL)) return 1;
  return pthread_join(thread, NULL);
}
