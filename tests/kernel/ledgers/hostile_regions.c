/* Mappings that no ordinary program makes: over many others, in hundreds of parts, by mremap that copies or leaves the
 * old place mapped, by processes that share the memory, of huge pages, with userfaultfd; calls that fail half way. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "regions.h"

enum { kParts = 60, kMany = 3000, kHugePage = 2 << 20, kAnonymous = MAP_PRIVATE | MAP_ANONYMOUS };

#define ANONYMOUS(name) \
  SITE_FUNCTION char* name(char* at, size_t pages) { return map_at(at, pages, kAnonymous, -1); }
ANONYMOUS(in_part)
ANONYMOUS(in_over_many)
ANONYMOUS(in_gaps)
ANONYMOUS(in_protected)
ANONYMOUS(in_advised)
ANONYMOUS(in_named)
ANONYMOUS(in_refused)
ANONYMOUS(in_sharer)
ANONYMOUS(in_vforked)
ANONYMOUS(in_watched)
ANONYMOUS(in_thread)
ANONYMOUS(in_moved)
ANONYMOUS(in_under)
ANONYMOUS(in_several)
SITE_FUNCTION char* in_duplicated(size_t pages) { return map_at(NULL, pages, MAP_SHARED | MAP_ANONYMOUS, -1); }

/* Every second one cannot be written to, so that the kernel makes no larger one of them. */
static void map_in_parts(char* at, size_t parts) {
  for (size_t i = 0; i < parts; i++) {
    in_part(at + 2 * i * kPage, 2);
    if (i % 2) ledger_require(!mprotect(at + 2 * i * kPage, 2 * kPage, PROT_READ), "mprotect works");
  }
}

static void replace_many(void) {
  char* at = hole(2 * kParts + 8);
  map_in_parts(at, kParts);
  in_over_many(at + kPage, 2 * kParts - 2); /* over all of them, but for a page at both ends */
  char* other = hole(2 * kParts + 8);
  map_in_parts(other, kParts);
  unmap(other - kPage, 2 * kParts + 2); /* and more, where nothing is */
  region_line("in_over_many/anonymous/program", 2 * kParts - 2, 0);
}

/* More gaps at once than regions. */
static void unmap_gaps(void) {
  char* at = hole(4 * kParts + 8);
  for (size_t i = 0; i < kParts; i++) in_gaps(at + 4 * i * kPage, 2);
  unmap(at + kPage, 4 * (kParts - 1));
  region_line("in_gaps/anonymous/program", 2 * kParts, 2 * kParts - 2);
}

static void split(void) {
  char* at = hole(3 * kMany + 8);
  in_protected(at, kMany);
  for (size_t i = 0; i < kMany; i += 2) ledger_require(!mprotect(at + i * kPage, kPage, PROT_READ), "mprotect works");
  for (size_t i = 0; i < kMany; i += 10) unmap(at + i * kPage, 3);
  region_line("in_protected/anonymous/program", kMany, kMany / 10 * 3);
  at = hole(64);
  in_advised(at, 40);
  for (size_t i = 0; i < 40; i += 4) {
    ledger_require(!madvise(at + i * kPage, kPage, i % 8 ? MADV_DONTFORK : MADV_NOHUGEPAGE), "madvise works");
    ledger_require(!mlock(at + (i + 1) * kPage, kPage), "mlock works");
    ledger_require(!madvise(at + (i + 2) * kPage, kPage, MADV_DONTNEED), "madvise works");
  }
  munlock(at, 40 * kPage);
  unmap(at + 3 * kPage, 5);
  region_line("in_advised/anonymous/program", 40, 5);
  at = hole(64);
  in_named(at, 8);
  prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, at + 2 * kPage, 3 * kPage, "a part"); /* some kernels have no names */
  unmap(at + 4 * kPage, 2);
  region_line("in_named/anonymous/program", 8, 2);
}

SITE_FUNCTION char* in_copy(char* shared, size_t pages) {
  char* copy = mremap(shared, 0, pages * kPage, MREMAP_MAYMOVE);
  ledger_require(copy != MAP_FAILED, "mremap copies what is shared");
  return copy;
}
/* Some libc's mremap passes an address on that it was not given. */
SITE_FUNCTION char* in_leave(char* at, size_t pages) {
  char* moved =
      (char*)syscall(SYS_mremap, at, pages * kPage, pages * kPage, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, (char*)NULL);
  ledger_require(moved != MAP_FAILED, "mremap leaves the old place mapped");
  return moved;
}
SITE_FUNCTION void in_move_over(char* at, size_t pages, char* where) {
  ledger_require(mremap(at, pages * kPage, pages * kPage, MREMAP_MAYMOVE | MREMAP_FIXED, where) == where,
                 "mremap moves");
  __asm__ volatile("" ::: "memory");
}

static void move(void) {
  char* shared = in_duplicated(6);
  unmap(in_copy(shared, 4) + kPage, 1);
  region_line("in_duplicated/shared/program", 6, 0);
  region_line("in_copy/shared/program", 4, 1);
  char* at = hole(64);
  in_moved(at, 20);
  unmap(in_leave(at + 2 * kPage, 3), 3);
  in_move_over(at + 10 * kPage, 4, at + 2 * kPage); /* over what was left there */
  ledger_require(mremap(at, kPage, 4 * kPage, 0) == MAP_FAILED, "there is no room to grow");
  region_line("in_leave/anonymous/program", 3, 3);
  region_line("in_move_over/anonymous/program", 4, 0);
  region_line("in_moved/anonymous/program", 20, 4 + 4);
}

static void fail(void) {
  char* at = hole(64);
  in_refused(at, 6);
  ledger_require(mmap(at, kPage, PROT_READ, kAnonymous | MAP_FIXED_NOREPLACE, -1, 0) == MAP_FAILED,
                 "nothing is replaced");
  ledger_require(mmap(at, kPage, PROT_READ, MAP_PRIVATE | MAP_FIXED, -1, 0) == MAP_FAILED, "there is no such file");
  ledger_require(mmap(at + 1, kPage, PROT_READ, kAnonymous | MAP_FIXED, -1, 0) == MAP_FAILED, "it is no page");
  /* A file that cannot be mapped, which shows late: some kernels have unmapped by then what was there. */
  int file = socket(AF_UNIX, SOCK_STREAM, 0);
  char* other = mmap(NULL, 6 * kPage, PROT_READ, kAnonymous, -1, 0);
  ledger_require(mmap(other + 4 * kPage, kPage, PROT_READ, MAP_PRIVATE | MAP_FIXED, file, 0) == MAP_FAILED,
                 "it has no pages");
  close(file);
  ledger_require(munmap(at + 1, kPage) && munmap(at, 0), "it is no range");
  region_line("in_refused/anonymous/program", 6, 0);
}

static int map_as_sharer(void* argument) {
  in_sharer(NULL, 9);
  unmap((char*)argument + kPage, 1);
  return 0;
}

static void share(void) {
  static char stack[1 << 16] __attribute__((aligned(16)));
  char* at = in_sharer(NULL, 4);
  pid_t pid = clone(map_as_sharer, stack + sizeof(stack), CLONE_VM | SIGCHLD, at);
  ledger_require(pid > 0 && waitpid(pid, NULL, 0) == pid, "a process shares the memory");
  region_line("in_sharer/anonymous/program", 13, 1);
  pid = vfork();
  if (!pid) {
    in_vforked(NULL, 3);
    _exit(0);
  }
  waitpid(pid, NULL, 0);
  region_line("in_vforked/anonymous/program", 3, 0);
}

/* Pages need not be there before they are touched. */
static void map_huge_pages(void) {
  char* at = (char*)mmap(NULL, 2 * kHugePage, PROT_READ, kAnonymous | MAP_HUGETLB | MAP_NORESERVE, -1, 0);
  if (at != MAP_FAILED) munmap(at + kHugePage, kHugePage);
  /* Privately, but of a file that is shared. */
  int file = memfd_create("huge", MFD_HUGETLB);
  if (file < 0) return;
  ledger_require(!ftruncate(file, 2 * kHugePage), "it has a size");
  at = (char*)mmap(NULL, 2 * kHugePage, PROT_READ, MAP_PRIVATE | MAP_NORESERVE, file, 0);
  if (at != MAP_FAILED) munmap(at, kHugePage);
  close(file);
}

static void watch_faults(void) {
  char* at = in_watched(NULL, 10);
  int events = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
  struct uffdio_api api = {.api = UFFD_API, .features = 0, .ioctls = 0};
  if (events >= 0 && !ioctl(events, UFFDIO_API, &api)) {
    struct uffdio_register part = {.range = {.start = (uintptr_t)at + 3 * kPage, .len = 2 * kPage},
                                   .mode = UFFDIO_REGISTER_MODE_MISSING,
                                   .ioctls = 0};
    ledger_require(!ioctl(events, UFFDIO_REGISTER, &part), "a part is watched");
    unmap(at + 4 * kPage, 3);
    close(events);
  } else {
    unmap(at + 4 * kPage, 3);
  }
  region_line("in_watched/anonymous/program", 10, 3);
}

SITE_FUNCTION void* in_shmat(int id, char* at, int flags) {
  void* attached = shmat(id, at, flags);
  ledger_require(attached != (void*)-1, "shmat works");
  return attached;
}

/* As large as no other, and older than the trace. */
static char* older_segment;

static void attach_older(void) {
  int id = shmget(IPC_PRIVATE, 4 * kParts * kPage, IPC_CREAT | 0600);
  older_segment = shmat(id, NULL, 0);
  ledger_require(older_segment != (void*)-1, "shmat works");
  shmctl(id, IPC_RMID, NULL);
}

static void attach(void) {
  int id = shmget(IPC_PRIVATE, 8 * kPage, IPC_CREAT | 0600);
  char* at = in_shmat(id, NULL, 0);
  unmap(at + 3 * kPage, 2);
  ledger_require(!shmdt(at), "both parts are detached");
  char* other = in_part(NULL, 8);
  in_shmat(id, other, SHM_REMAP);
  shmctl(id, IPC_RMID, NULL);
  for (size_t i = 0; i < 2 * kParts; i++) unmap(older_segment + 2 * i * kPage, 1);
  ledger_require(!shmdt(older_segment), "all pieces are detached");
  region_line("in_shmat/shm/program", 16, 8);
  region_line("in_part/anonymous/program", 4 * kParts + 32 + 8, 4 * kParts - 2 + 3 + 8);
}

/* The kernel unmaps the ring when the context ends, which no argument tells. */
static void end_asynchronous_input(void) {
  unsigned long context = 0;
  if (!syscall(SYS_io_setup, 8, &context)) syscall(SYS_io_destroy, context);
}

/* Since 6.17 one call moves several mappings, and leaves the gaps between them. */
static void move_several(void) {
  char* at = hole(64);
  char* to = hole(64);
  in_under(to, 12);
  in_several(at, 3);
  in_several(at + 5 * kPage, 3);
  char* moved = mremap(at, 8 * kPage, 8 * kPage, MREMAP_MAYMOVE | MREMAP_FIXED, to);
  int has_moved = moved == to;
  region_line("in_several/anonymous/program", 6, has_moved ? 6 : 0);
  region_line("in_under/anonymous/program", 12, has_moved ? 6 : 0);
}

static void move_break(void) {
  char* end = sbrk(0);
  ledger_require(sbrk(20 * kPage) == end && sbrk(-12 * kPage) != (void*)-1 && sbrk(0) == end + 8 * kPage, "sbrk works");
  ledger_require(sbrk((intptr_t)1 << 46) == (void*)-1, "there is no such room");
}

static void* map_in_thread(void* argument) {
  (void)argument;
  in_thread(NULL, 2);
  return NULL;
}

/* The lowest pages of a thread's stack, while it is still there to be used again. */
static void cut_stack(void) {
  pthread_attr_t attributes;
  pthread_t thread;
  char* stack = in_part(NULL, 32);
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, stack, 32 * kPage);
  ledger_require(!pthread_create(&thread, &attributes, map_in_thread, NULL), "the thread can be made");
  pthread_join(thread, NULL);
  unmap(stack, 3);
  region_line("in_thread/anonymous/program", 2, 0);
}

static void __attribute__((noinline)) use_stack(unsigned depth) {
  volatile char room[4096];
  room[0] = (char)depth;
  if (depth) use_stack(depth - 1);
  ledger_require(room[0] == (char)depth, "the stack keeps what is there");
}

int main(void) {
  attach_older();
  ledger_begin();
  replace_many();
  unmap_gaps();
  split();
  move();
  fail();
  share();
  map_huge_pages();
  watch_faults();
  end_asynchronous_input();
  move_several();
  move_break();
  use_stack(300);
  cut_stack();
  attach();
  ledger_end();
  return 0;
}
