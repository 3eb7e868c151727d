/* More live blocks than the table has room for (the test gives it 1000). What is kept is right, what is not is counted,
 * and room that becomes free is used again. */
#include "ledger.h"

enum { kRoom = 1000, kTooMany = 500 };

static struct block kept[kRoom];
static void* beyond[kTooMany];

SITE_FUNCTION struct block fills_the_table(size_t n) { return ALLOCATED(malloc(n), n); }
SITE_FUNCTION struct block fills_it_again(size_t n) { return ALLOCATED(malloc(n), n); }
/* Counts nothing: none of these can be kept. */
SITE_FUNCTION void* finds_it_full(size_t n) { return malloc(n); }

int main(void) {
  ledger_begin();
  for (size_t i = 0; i < kRoom; i++) kept[i] = fills_the_table(10 + i);
  for (size_t i = 0; i < kTooMany; i++) beyond[i] = finds_it_full(20 + i);
  for (size_t i = 0; i < kRoom; i += 2) release(kept[i]);
  for (size_t i = 0; i < kRoom; i += 2) kept[i] = fills_it_again(30 + i);
  for (size_t i = 0; i < kTooMany; i++) free(beyond[i]);
  for (size_t i = 0; i < kRoom; i += 4) release(kept[i]);
  ledger_loss("live_table_full", kTooMany);
  ledger_value("untraced_frees", kTooMany);
  ledger_end();
  return 0;
}
