/* One of many libraries that a process maps; mapped_libraries.c loads copies of it. */
#include <stddef.h>

typedef void (*work)(size_t);
void through_library(work work, size_t number);

void through_library(work work, size_t number) {
  work(number);
  __asm__ volatile("" ::: "memory");
}
