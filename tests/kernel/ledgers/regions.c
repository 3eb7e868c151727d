/* Maps and unmaps memory of every kind by script, from named functions, and writes down what each of them has mapped
 * and what of that has been unmapped: "value FUNCTION/KIND/ORIGIN/mapped BYTES". */
#define _GNU_SOURCE
#include "regions.h"

#include <fcntl.h>
#include <sys/shm.h>
#include <sys/syscall.h>

#define ANONYMOUS(name) \
  SITE_FUNCTION char* name(char* at, size_t pages) { return map_at(at, pages, MAP_PRIVATE | MAP_ANONYMOUS, -1); }

ANONYMOUS(in_split)
ANONYMOUS(in_left)
ANONYMOUS(in_right)
ANONYMOUS(in_under)
ANONYMOUS(in_over)
ANONYMOUS(in_old)
ANONYMOUS(in_protected)
ANONYMOUS(in_between)

SITE_FUNCTION char* in_shared(char* at, size_t pages) { return map_at(at, pages, MAP_SHARED | MAP_ANONYMOUS, -1); }
SITE_FUNCTION char* in_stack(char* at, size_t pages) {
  return map_at(at, pages, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1);
}
SITE_FUNCTION char* in_memfd(char* at, size_t pages, int file) { return map_at(at, pages, MAP_SHARED, file); }
SITE_FUNCTION char* in_file(char* at, size_t pages, int file) { return map_at(at, pages, MAP_PRIVATE, file); }

SITE_FUNCTION char* in_move(char* at, size_t from, size_t to, char* where) {
  char* moved = mremap(at, from * kPage, to * kPage, MREMAP_MAYMOVE | MREMAP_FIXED, where);
  ledger_require(moved == where, "mremap moves");
  return moved;
}
SITE_FUNCTION void in_resize(char* at, size_t from, size_t to) {
  ledger_require(mremap(at, from * kPage, to * kPage, 0) == at, "mremap enlarges where it is");
  __asm__ volatile("" ::: "memory");
}
SITE_FUNCTION char* in_copy(char* at, size_t pages, char* where) {
  char* copy = mremap(at, pages * kPage, pages * kPage, MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP, where);
  ledger_require(copy == where, "mremap leaves the old place mapped");
  return copy;
}
SITE_FUNCTION void* in_shmat(int id) {
  void* at = shmat(id, NULL, 0);
  ledger_require(at != (void*)-1, "shmat works");
  return at;
}
/* Without libc, which adds to what its own allocator has. */
SITE_FUNCTION char* in_brk(char* to) {
  char* now = (char*)syscall(SYS_brk, to);
  ledger_require(!to || now == to, "the program break moves");
  return now;
}

static void split_regions(void) {
  char* at = hole(64);
  in_split(at, 16);
  unmap(at, 1);
  unmap(at + 15 * kPage, 1);
  unmap(at + 6 * kPage, 2);
  unmap(at + 6 * kPage, 2); /* nothing is there */
  region_line("in_split/anonymous/program", 16, 4);
  /* The kernel makes one mapping of these two. */
  in_left(at + 20 * kPage, 8);
  in_right(at + 28 * kPage, 8);
  unmap(at + 24 * kPage, 8);
  region_line("in_left/anonymous/program", 8, 4);
  region_line("in_right/anonymous/program", 8, 4);
  in_protected(at + 40 * kPage, 9);
  ledger_require(!mprotect(at + 43 * kPage, 3 * kPage, PROT_NONE), "mprotect works");
  ledger_require(!madvise(at + 41 * kPage, kPage, MADV_DONTDUMP), "madvise works");
  ledger_require(!mprotect(at + 43 * kPage, 3 * kPage, PROT_READ | PROT_WRITE), "mprotect works");
  unmap(at + 44 * kPage, 1);
  region_line("in_protected/anonymous/program", 9, 1);
}

static void map_over_regions(void) {
  char* at = hole(40);
  in_under(at, 12);
  in_over(at + 4 * kPage, 4);  /* in the middle */
  in_over(at - 2 * kPage, 4);  /* over the beginning */
  in_over(at + 10 * kPage, 4); /* over the end */
  in_over(at + 4 * kPage, 4);  /* all of its own */
  region_line("in_under/anonymous/program", 12, 8);
  region_line("in_over/anonymous/program", 16, 4);
}

static void move_regions(void) {
  char* at = hole(64);
  char* to = hole(64);
  in_old(at, 24);
  in_move(at + 4 * kPage, 4, 4, to);             /* out of the middle */
  in_move(at + 8 * kPage, 4, 8, to + 8 * kPage); /* and grown */
  in_copy(at + 20 * kPage, 4, to + 24 * kPage);
  unmap(to + 2 * kPage, 1);
  region_line("in_old/anonymous/program", 24, 8);
  region_line("in_move/anonymous/program", 12, 1);
  region_line("in_copy/anonymous/program", 4, 0);
  in_resize(at + 20 * kPage, 4, 10);
  in_resize(at + 20 * kPage, 10, 8);
  region_line("in_resize/anonymous/program", 6, 2);
}

static void share_memory(void) {
  char* at = hole(64);
  int memory = memfd_create("regions", 0);
  int file = open("/proc/self/exe", O_RDONLY);
  ledger_require(memory >= 0 && file >= 0, "files can be opened");
  ledger_require(!ftruncate(memory, 8 * kPage), "ftruncate works");
  in_shared(at, 8);
  unmap(at + 2 * kPage, 3);
  region_line("in_shared/shared/program", 8, 3);
  in_memfd(at + 16 * kPage, 4, memory);
  region_line("in_memfd/shared/program", 4, 0);
  in_file(at + 24 * kPage, 3, file);
  unmap(at + 24 * kPage, 1);
  region_line("in_file/file/program", 3, 1);
  in_stack(at + 32 * kPage, 8);
  ledger_require(!mprotect(at + 32 * kPage, kPage, PROT_NONE), "mprotect works");
  region_line("in_stack/stack/program", 8, 0);
  close(memory);
  close(file);
}

static void attach_segments(void) {
  int id = shmget(IPC_PRIVATE, 5 * kPage, IPC_CREAT | 0600);
  ledger_require(id >= 0, "shmget works");
  void* first = in_shmat(id);
  in_shmat(id);
  ledger_require(!shmdt(first), "shmdt works");
  shmctl(id, IPC_RMID, NULL);
  /* In forty pieces, and something else between two of them. */
  id = shmget(IPC_PRIVATE, 80 * kPage, IPC_CREAT | 0600);
  ledger_require(id >= 0, "shmget works");
  char* pieces = in_shmat(id);
  shmctl(id, IPC_RMID, NULL);
  for (size_t i = 0; i < 40; i++) unmap(pieces + 2 * i * kPage, 1);
  in_between(pieces + 30 * kPage, 1);
  ledger_require(!shmdt(pieces), "shmdt works");
  region_line("in_shmat/shm/program", 10 + 80, 5 + 80);
  region_line("in_between/anonymous/program", 1, 0);
}

static void move_break(void) {
  char* end = in_brk(NULL);
  in_brk(end + 16 * kPage);
  in_brk(end + 8 * kPage);
  in_brk(end + 12 * kPage);
  region_line("in_brk/brk/program", 20, 8);
}

int main(void) {
  ledger_begin();
  split_regions();
  map_over_regions();
  move_regions();
  share_memory();
  attach_segments();
  move_break();
  ledger_end();
  return 0;
}
