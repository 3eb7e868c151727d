/* What programs are made of that write down what they map. */
#ifndef HAWKTRACE_LEDGER_REGIONS_H
#define HAWKTRACE_LEDGER_REGIONS_H

#include <sys/mman.h>

#include "ledger.h"

enum { kPage = 4096 };

/* "value NAME/mapped BYTES" and "value NAME/unmapped BYTES". NAME: function/kind/origin. */
static inline void region_line(const char* name, uint64_t mapped_pages, uint64_t unmapped_pages) {
  char text[200];
  size_t length = strlen(name);
  ledger_require(length < 150, "a short name");
  ledger_value(strcat(strcpy(text, name), "/mapped"), mapped_pages * kPage);
  ledger_value(strcat(strcpy(text, name), "/unmapped"), unmapped_pages * kPage);
}

/* Inlined: the caller is the function that is seen to map. At any address if `at` is null. */
static inline __attribute__((always_inline)) char* map_at(char* at, size_t pages, int flags, int file) {
  char* mapped = (char*)mmap(at, pages * kPage, PROT_READ | PROT_WRITE, flags | (at ? MAP_FIXED : 0), file, 0);
  ledger_require(at ? mapped == at : mapped != MAP_FAILED, "mmap works");
  return mapped;
}

static inline void unmap(char* at, size_t pages) { ledger_require(!munmap(at, pages * kPage), "munmap works"); }

/* Addresses at which nothing is mapped, with as much room before and behind. Each time others. */
static inline char* hole(size_t pages) {
  static char* next;
  if (!next) {
    const size_t kRoom = (size_t)1 << 34;
    char* room = (char*)mmap(NULL, kRoom, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ledger_require(room != MAP_FAILED, "there are free addresses");
    munmap(room, kRoom);
    next = room + kRoom / 4;
  }
  next += 3 * pages * kPage;
  return next - 2 * pages * kPage;
}

#endif
