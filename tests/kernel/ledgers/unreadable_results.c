/* An allocator of our own whose posix_memalign succeeds, but takes the place of its result away before it returns: what
 * was allocated cannot be known. */
#include <sys/mman.h>

#include "ledger.h"

enum { kCalls = 50, kPage = 4096 };

static unsigned char blocks[kCalls][64] __attribute__((aligned(64)));
static size_t used;

__attribute__((noinline, noipa)) int posix_memalign(void** result, size_t alignment, size_t n) {
  ledger_require(alignment == 64 && n <= 64 && used < kCalls, "there is room");
  *result = blocks[used++];
  return munmap(result, kPage);
}

SITE_FUNCTION void lose(void) {
  void** result = mmap(NULL, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ledger_require(result != MAP_FAILED && posix_memalign(result, 64, 64) == 0, "it succeeds");
}

int main(void) {
  ledger_begin();
  for (int i = 0; i < kCalls; i++) lose();
  ledger_loss("unreadable_result", kCalls);
  ledger_end();
  return 0;
}
