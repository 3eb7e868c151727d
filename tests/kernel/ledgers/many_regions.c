/* Maps and unmaps more often than there is room to write down for a reader that does not read. */
#include "regions.h"

enum { kRounds = 25000 };

SITE_FUNCTION char* in_round(size_t pages) { return map_at(NULL, pages, MAP_PRIVATE | MAP_ANONYMOUS, -1); }
SITE_FUNCTION char* in_last(size_t pages) { return map_at(NULL, pages, MAP_PRIVATE | MAP_ANONYMOUS, -1); }

int main(void) {
  ledger_begin();
  for (size_t i = 0; i < kRounds; i++) unmap(in_round(2), 2);
  in_last(7);
  ledger_end();
  return 0;
}
