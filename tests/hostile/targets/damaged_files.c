/* Maps as code forty copies of libc whose bytes are damaged by a generator of numbers: the headers, the tables of
 * sections and symbols, what is unwound by. */
#include "odd_files.h"

enum { kCopies = 40 };

static uint64_t state = 88172645463325252u;
static uint64_t next(void) {
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

int main(void) {
  char path[8192];
  size_t length, damaged_length;
  const char* name = path_of_libc();
  char* libc = contents_of(name, &length);
  make_odd_directory();
  for (int i = 0; i < kCopies; i++) {
    char* damaged = contents_of(name, &damaged_length);
    /* The header, the program headers, the section headers, or anything at all. */
    const size_t begins[] = {4, 64, length - 4096, 0};
    const size_t lengths[] = {60, 800, 4096, length};
    for (int j = 0; j < 3 << (i % 12); j++)
      damaged[begins[i % 4] + next() % lengths[i % 4]] = (char)(i % 3 ? next() : 0xff);
    snprintf(path, sizeof(path), "%s/%d.so", odd_directory, i);
    map_as_code(path, damaged, length, NULL);
    remove_odd_file(path);
    munmap(damaged, damaged_length);
  }
  remove_odd_directory();
  (void)libc;
  ledger_begin();
  allocate_a_while(100);
  ledger_end();
  return 0;
}
