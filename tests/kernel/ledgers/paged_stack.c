/* Stacks that lie on many pages: frames of 5 KB, and a frame of which one word ends a page and the other begins the
 * next. */
#include "frame_pair.h"

enum { kDeepest = 100, kRounds = 50, kPage = 4096 };

static struct block last;

SITE_FUNCTION struct block by_malloc(size_t n) { return ALLOCATED(malloc(n), n); }
SITE_FUNCTION struct block page_by_page(size_t levels, size_t n) {
  volatile char room[5000];
  __asm__ volatile("" ::"r"(room));
  struct block block = levels ? page_by_page(levels - 1, n) : by_malloc(n);
  __asm__ volatile("" ::: "memory");
  return block;
}

SITE_FUNCTION void on_the_edge(size_t n) { last = ALLOCATED(malloc(n), n); }
/* The words on both sides of a page's end imitate the frame of this function, followed by that of its caller. */
SITE_FUNCTION void over_the_edge(size_t n, uintptr_t edge_from) {
  volatile char room[3 * kPage];
  __asm__ volatile("" ::"r"(room));
  uintptr_t edge = ((uintptr_t)room + kPage + edge_from) & ~(uintptr_t)(kPage - 1);
  volatile struct frame_pair* pair = (volatile struct frame_pair*)(edge - 8);
  pair->saved_rbp = *(void**)__builtin_frame_address(0);
  pair->return_address = __builtin_return_address(0);
  call_on_pair(n, pair, on_the_edge);
}
SITE_FUNCTION void behind_the_edge(size_t n) {
  over_the_edge(n, kPage);
  __asm__ volatile("" ::: "memory");
}

int main(void) {
  ledger_begin();
  for (size_t round = 0; round < kRounds; round++)
    for (size_t levels = 0; levels < kDeepest; levels++) {
      struct block block = page_by_page(levels, 1 + levels);
      if (round % 2) release(block);
    }
  for (size_t round = 0; round < kRounds; round++) {
    behind_the_edge(1 + round);
    if (round % 2) release(last);
  }
  ledger_value("stacks", kDeepest + 1);
  ledger_value("incomplete_stacks", 1); /* behind call_on_pair, which no table describes */
  ledger_end();
  return 0;
}
