/* Two threads map and unmap code as fast as they can, of files with and without tables to unwind by, while a third
 * allocates. */
#include <pthread.h>

#include "odd_files.h"

static volatile int is_over;
static const char* libc_path;

static void* map_for_ever(void* unused) {
  int file = open(libc_path, O_RDONLY);
  while (!is_over) {
    char* code = mmap(NULL, 64 << 12, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0x28000);
    mprotect(code, 4096, PROT_READ);
    munmap(code + (8 << 12), 4096);
    munmap(code, 64 << 12);
  }
  return unused;
}

int main(void) {
  pthread_t threads[2];
  libc_path = path_of_libc();
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, map_for_ever, NULL);
  ledger_begin();
  allocate_a_while(5000);
  is_over = 1;
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  ledger_end();
  return 0;
}
