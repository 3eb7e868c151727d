/* One of three programs, each of which replaces itself with the next: equal code at equal addresses, so that cached
 * data of one of them would be wrongly used for the next; only the names of the functions differ. The numbers are those
 * of the last one. LEDGER_SITE: its function. LEDGER_NEXT: the next program, in the same directory; not defined: it is
 * the last. */
#include <libgen.h>
#include <stdio.h>
#include <sys/personality.h>

#include "ledger.h"

enum { kBlocks = 500 };

SITE_FUNCTION struct block LEDGER_SITE(size_t n) {
  return ALLOCATED(malloc(n), n);
}

static void
allocate(void) {
  for (size_t i = 1; i <= kBlocks; i++) {
    struct block block = LEDGER_SITE(i);
    if (i % 3 == 0) release(block);
  }
}

#ifdef LEDGER_NEXT
#define TEXT_OF(word) #word
#define TEXT_OF_VALUE(macro) TEXT_OF(macro)
static char next_name[] = TEXT_OF_VALUE(LEDGER_NEXT);

static void run_next(void) {
  char self[4096], next[4200], again[] = "again";
  char* arguments[] = {next_name, again, NULL};
  ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
  ledger_require(length > 0, "a program finds itself");
  self[length] = 0;
  snprintf(next, sizeof(next), "%s/%s", dirname(self), next_name);
  execv(next, arguments);
  ledger_require(0, "execv works");
}
#else
static void run_next(void) {}
#endif

int main(int argc, char** argv) {
  (void)argv;
  if (argc == 1) {
    ledger_begin();
    ledger_require(personality(ADDR_NO_RANDOMIZE) != -1, "addresses can be made to repeat");
  }
  allocate();
  run_next();
  ledger_end();
  return 0;
}
