/* Calls the allocator on a stack that grows downwards by page faults (MAP_GROWSDOWN), from frames so large that the
 * walk reads where nothing has been touched yet. */
#include "hostile.h"
#include "on_stack.h"

enum { kRoom = 64 << 20, kDepth = 110 };

static volatile size_t say_nothing;
static void descend(size_t depth) {
  volatile char frame[60000];
  frame[depth] = 1;
  struct block block = by_malloc(depth + 1);
  if (depth % 2) release(block);
  if (depth < kDepth) descend(depth + 1);
  say_nothing += frame[depth];
}
static void script(void) { descend(0); }

int main(void) {
  char* room = mmap(NULL, kRoom, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  munmap(room, kRoom);
  char* top = mmap(room + kRoom - 8192, 8192, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN | MAP_FIXED, -1, 0);
  ledger_require(top != MAP_FAILED, "a stack can grow");
  ledger_begin();
  on_stack(top + 8192, script);
  ledger_end();
  return 0;
}
