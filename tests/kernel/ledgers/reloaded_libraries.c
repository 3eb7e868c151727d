/* DIRECTORY: threads that load, call and unload libraries made of frame_layout_library.c, which take each other's
 * addresses. Each has a caller and a site of its own here, so that a wrong stack is no other's right one. */
#include <dlfcn.h>
#include <pthread.h>

#include "noted_stacks.h"

enum { kLayouts = 4, kThreads = 3, kLoads = 60, kCalls = 8 };

typedef void (*function)(size_t);
typedef void (*library_function)(function, size_t, uintptr_t);

static pthread_barrier_t start;
static const char* directory;
static uintptr_t decoy;

#define LAYOUT(k)                                                                      \
  SITE_FUNCTION void below_layout_##k(size_t n) {                                      \
    struct block block = ALLOCATED(malloc(n), n);                                      \
    NOTE_STACK();                                                                      \
    if (n % 3) release(block);                                                         \
  }                                                                                    \
  SITE_FUNCTION void call_layout_##k(library_function through) {                       \
    for (size_t i = 1; i <= kCalls; i++) through(below_layout_##k, i + 10 * k, decoy); \
  }
LAYOUT(0)
LAYOUT(1)
LAYOUT(2)
LAYOUT(3)

static void (*const kCallers[kLayouts])(library_function) = {call_layout_0, call_layout_1, call_layout_2,
                                                             call_layout_3};

SITE_FUNCTION void set_decoy(void) { decoy = (uintptr_t)__builtin_return_address(0); }
/* What decoys say has called. */
SITE_FUNCTION void decoy_caller(void) {
  set_decoy();
  __asm__ volatile("" ::: "memory");
}

static void load_and_call(size_t layout) {
  static const char kName[] = "libframe_layout_0.so";
  char path[512];
  strcat(strcpy(path, directory), kName)[strlen(directory) + sizeof(kName) - sizeof("0.so")] = (char)('0' + layout);
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  ledger_require(library != NULL, "dlopen finds the library");
  library_function through = (library_function)dlsym(library, "through_library");
  ledger_require(through != NULL, "dlsym finds the function");
  kCallers[layout](through);
  ledger_require(dlclose(library) == 0, "dlclose works");
}

static void* work(void* number) {
  pthread_barrier_wait(&start);
  for (size_t i = 0; i < kLoads; i++) load_and_call(((size_t)number + i) % kLayouts);
  return NULL;
}

int main(int argc, char** argv) {
  pthread_t threads[kThreads];
  ledger_require(argc == 2 && strlen(argv[1]) < 400, "one argument, a short path");
  directory = argv[1];
  decoy_caller();
  for (size_t layout = 0; layout < kLayouts; layout++) load_and_call(layout);
  pthread_barrier_init(&start, NULL, kThreads + 1);
  for (size_t i = 0; i < kThreads; i++)
    ledger_require(pthread_create(&threads[i], NULL, work, (void*)i) == 0, "the threads can be created");
  ledger_begin();
  forget_ledger();
  forget_stacks();
  pthread_barrier_wait(&start);
  for (size_t i = 0; i < kThreads; i++) pthread_join(threads[i], NULL);
  ledger_end();
  return 0;
}
