/* Books that outlive the process that keeps them. */
#ifndef HAWKTRACE_SHARED_BOOKS_H
#define HAWKTRACE_SHARED_BOOKS_H

#include "hostile.h"

/* Allocates until the process is ended from outside, and notes each call once it is over. */
static struct ledger_site* open_shared_books(void) {
  return (struct ledger_site*)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

__attribute__((noinline, noipa, unused)) static void allocate_into(struct ledger_site* books, size_t n, int is_freed) {
  void* block = malloc(n);
  books->allocated_bytes += n;
  books->allocated_count++;
  if (!is_freed) return;
  free(block);
  books->freed_bytes += n;
  books->freed_count++;
}

__attribute__((unused)) static void close_shared_books(struct ledger_site* books) {
  ledger_line("site", "shared", &books->allocated_bytes, 4);
  ledger_value("slack", 1);
  ledger_write("done\n", 5);
}

#endif
