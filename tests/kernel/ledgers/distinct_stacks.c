/* Very many stacks, each used once: number n is written in base 8, each digit is a call of a function of its own. The
 * n-th block has n + 1 bytes, so that the test can tell which stack it must carry. */
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

int main(void) {
  ledger_begin();
  for (size_t n = 0; n < kStacks; n++) {
    struct block block = next(n, kDigits, n + 1);
    if (n % 2) release(block);
  }
  ledger_value("stacks", kStacks);
  ledger_end();
  return 0;
}
