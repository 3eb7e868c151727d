/* Very many stacks, each used once: number n is written in base 8, each digit is a call of a function of its own. The
 * n-th block has n + 1 bytes, so that the test knows which stack it must have. */
#include "ledger.h"

enum { kStacks = LEDGER_STACKS, kDigits = LEDGER_DIGITS };

typedef struct block (*digit_function)(size_t rest, int digits_left, size_t bytes);
extern digit_function const kDigitFunctions[8];

SITE_FUNCTION struct block leaf(size_t n) { return ALLOCATED(malloc(n), n); }

static inline struct block next(size_t rest, int digits_left, size_t bytes) {
  return digits_left == 0 ? leaf(bytes) : kDigitFunctions[rest % 8](rest / 8, digits_left - 1, bytes);
}

#define DIGIT(d)                                                                     \
  SITE_FUNCTION struct block digit_##d(size_t rest, int digits_left, size_t bytes) { \
    struct block block = next(rest, digits_left, bytes);                             \
    __asm__ volatile("" ::: "memory");                                               \
    return block;                                                                    \
  }
DIGIT(0)
DIGIT(1)
DIGIT(2)
DIGIT(3)
DIGIT(4)
DIGIT(5)
DIGIT(6)
DIGIT(7)

digit_function const kDigitFunctions[8] = {digit_0, digit_1, digit_2, digit_3, digit_4, digit_5, digit_6, digit_7};

static void make_stacks(size_t first, size_t step) {
  for (size_t n = first; n < kStacks; n += step) {
    struct block block = next(n, kDigits, n + 1);
    if (n % 2) release(block);
  }
}

#ifdef LEDGER_THREADS
#include <pthread.h>

/* At the same time, as fast as they can. They are not joined before the ledger is closed: that would free memory. */
static pthread_barrier_t start, made;

static void* work(void* argument) {
  pthread_barrier_wait(&start);
  make_stacks((size_t)argument, LEDGER_THREADS);
  pthread_barrier_wait(&made);
  return NULL;
}

static void prepare(void) {
  pthread_t thread;
  pthread_barrier_init(&start, NULL, LEDGER_THREADS + 1);
  pthread_barrier_init(&made, NULL, LEDGER_THREADS + 1);
  for (size_t i = 0; i < LEDGER_THREADS; i++) pthread_create(&thread, NULL, work, (void*)i);
}

static void run(void) {
  pthread_barrier_wait(&start);
  pthread_barrier_wait(&made);
}
#else
static void prepare(void) {}
static void run(void) { make_stacks(0, 1); }
#endif

int main(void) {
  prepare();
  ledger_begin();
  run();
  ledger_value("stacks", kStacks);
  ledger_end();
  return 0;
}
