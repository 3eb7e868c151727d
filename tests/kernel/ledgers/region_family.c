/* Processes that make others, each of which maps memory, has parts of it unmapped and others grown, and ends at once:
 * before its mappings can be read. So each writes that down itself: DIRECTORY/PID.maps is a copy of its
 * /proc/PID/maps at its end, DIRECTORY/PID.ledger has lines as regions.h has them, without "value".
 *
 * usage: region_family DIRECTORY HOW [COUNT]      HOW: see main */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "regions.h"

enum { kAnonymous = MAP_PRIVATE | MAP_ANONYMOUS, kThreads = 3, kStackBytes = 1 << 16 };

extern char** environ;

static const char* directory;
static int lines; /* the file with the ledger of this process */

#define ANONYMOUS(name) \
  SITE_FUNCTION char* name(char* at, size_t pages) { return map_at(at, pages, kAnonymous, -1); }
ANONYMOUS(in_maker)
ANONYMOUS(in_uncopied)
ANONYMOUS(in_child)
ANONYMOUS(in_grandchild)
ANONYMOUS(in_sharer)
ANONYMOUS(in_replaced)
ANONYMOUS(in_program)
ANONYMOUS(in_thread)
SITE_FUNCTION char* in_brk(char* to) {
  char* now = (char*)syscall(SYS_brk, to);
  ledger_require(!to || now == to, "the program break moves");
  return now;
}
SITE_FUNCTION char* in_grown(char* at, size_t from, size_t to) {
  char* moved = mremap(at, from * kPage, to * kPage, MREMAP_MAYMOVE);
  ledger_require(moved != MAP_FAILED, "mremap grows");
  return moved;
}
SITE_FUNCTION char* in_shmat(int id) {
  char* at = shmat(id, NULL, 0);
  ledger_require(at != (void*)-1, "shmat works");
  return at;
}
/* What grows downwards by itself belongs to the call that has mapped its end. */
SITE_FUNCTION char* in_growing(char* at, size_t pages) { return map_at(at, pages, kAnonymous | MAP_GROWSDOWN, -1); }

static int open_own(const char* extension) {
  char path[512];
  snprintf(path, sizeof(path), "%s/%d.%s", directory, getpid(), extension);
  int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  ledger_require(file >= 0, "a file can be written");
  return file;
}

static void begin(void) { lines = open_own("ledger"); }

static void line(const char* name, uint64_t mapped_pages, uint64_t unmapped_pages) {
  char text[400];
  int length = snprintf(text, sizeof(text), "%s/mapped %lu\n%s/unmapped %lu\n", name, mapped_pages * kPage, name,
                        unmapped_pages * kPage);
  ledger_require(write(lines, text, (size_t)length) == length, "the file can be written");
}

/* Maps nothing more. */
static void end(void) {
  static char part[1 << 12];
  int copy = open_own("maps"), own = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  ledger_require(own >= 0, "the mappings can be read");
  for (ssize_t bytes; (bytes = read(own, part, sizeof(part))) > 0;)
    ledger_require(write(copy, part, (size_t)bytes) == bytes, "the file can be written");
  _exit(0);
}

static void wait_for_all(void) {
  while (wait(NULL) > 0)
    ;
}

static void __attribute__((noinline)) use_stack(unsigned depth) {
  volatile char room[kPage];
  room[0] = (char)depth;
  if (depth) use_stack(depth - 1);
  ledger_require(room[0] == (char)depth, "the stack keeps what is there");
}

static void execute(const char* how, unsigned count) {
  char number[16];
  snprintf(number, sizeof(number), "%u", count);
  execl("/proc/self/exe", "region_family", directory, how, number, NULL);
  abort();
}

/* A program that does not make others. `times`: how often it maps something that it does not keep. */
static void program(unsigned times) {
  begin();
  for (unsigned i = 0; i < times; i++) unmap(in_program(NULL, 1), 1);
  char* at = in_program(hole(16), 6);
  unmap(at + kPage, 2);
  char* break_at = in_brk(NULL);
  in_brk(break_at + 9 * kPage);
  in_brk(break_at + 4 * kPage);
  use_stack(60);
  line("in_program/anonymous/program", 6 + times, 2 + times);
  line("in_brk/brk/program", 9, 5);
  end();
}

/* Programs that map while hawktrace learns of them. */
static void busy(unsigned count) {
  begin();
  for (unsigned i = 0; i < count; i++) {
    in_maker(NULL, 2);
    if (!fork()) execute("program", 4000);
  }
  wait_for_all();
  line("in_maker/anonymous/program", 2 * count, 0);
  end();
}

/* Copies of what their maker has, which each of them changes at once. */
static void forks(unsigned count) {
  begin();
  int id = shmget(IPC_PRIVATE, 7 * kPage, IPC_CREAT | 0600);
  char* at = in_maker(hole(64), 30);
  char* uncopied = in_uncopied(hole(8), 5);
  char* segment = in_shmat(id);
  shmctl(id, IPC_RMID, NULL);
  unmap(segment + 2 * kPage, 1);
  ledger_require(!madvise(uncopied + kPage, 3 * kPage, MADV_DONTFORK), "madvise works");
  ledger_require(!madvise(at, kPage, MADV_WIPEONFORK), "madvise works");
  for (unsigned i = 0; i < count; i++) {
    if (fork()) continue;
    begin();
    char* own = in_child(NULL, 8);
    unmap(own + i % 7 * kPage, 1);
    unmap(at + (5 + i) * kPage, 2);
    ledger_require(mmap(uncopied + 2 * kPage, kPage, PROT_READ, kAnonymous | MAP_FIXED_NOREPLACE, -1, 0) != MAP_FAILED,
                   "it was not copied");
    if (i % 2) ledger_require(!shmdt(segment), "shmdt works");
    in_grown(at + kPage, 4, 10);
    use_stack(40 + i);
    if (i % 3 == 0) {
      if (!fork()) {
        begin();
        in_grandchild(NULL, 3);
        line("in_grandchild/anonymous/program", 3, 0);
        end();
      }
      wait_for_all();
    }
    line("in_child/anonymous/program", 8, 1);
    line("in_grown/anonymous/program", 10, 0);
    end();
  }
  wait_for_all();
  line("in_maker/anonymous/program", 30, 0);
  line("in_uncopied/anonymous/program", 5, 0);
  line("in_shmat/shm/program", 7, 1);
  end();
}

/* Every second one goes on in another program, and what it has mapped until then is gone. */
static void chain(unsigned count) {
  in_replaced(NULL, 11);
  use_stack(100);
  if (!count) execute("program", 0);
  if (count % 2 == 0) execute("chain", count - 1);
  if (!fork()) execute("chain", count - 1);
  wait_for_all();
  begin();
  unmap(in_program(NULL, 5), 1);
  line("in_replaced/anonymous/program", 11, 0);
  line("in_program/anonymous/program", 5, 1);
  end();
}

/* On their maker's memory until they run a program. */
static void vforks(unsigned count) {
  begin();
  for (volatile unsigned i = 0; i < count; i++) {
    if (vfork()) continue;
    char* at = in_sharer(NULL, 4);
    unmap(at, 1);
    if (!fork()) { /* a copy of the memory on which its maker only works */
      begin();
      in_child(NULL, 3);
      unmap(at + 2 * kPage, 1);
      line("in_child/anonymous/program", 3, 0);
      end();
    }
    execute("program", 0);
  }
  char number[] = "0";
  char* const arguments[] = {(char*)"region_family", (char*)directory, (char*)"program", number, NULL};
  for (unsigned i = 0; i < count; i++)
    ledger_require(!posix_spawn(&(pid_t){0}, "/proc/self/exe", NULL, NULL, arguments, environ), "posix_spawn works");
  wait_for_all();
  line("in_sharer/anonymous/program", 4 * count, count);
  end();
}

/* One that shares the memory while its maker goes on there, and then runs a program. */
static int map_and_execute(void* ready) {
  in_sharer(NULL, 4);
  __atomic_store_n((int*)ready, 1, __ATOMIC_RELEASE);
  execute("program", 0);
  return 0;
}

static void sharers(unsigned count) {
  static char stacks[8][kStackBytes] __attribute__((aligned(16)));
  static int ready[8];
  begin();
  for (unsigned i = 0; i < count; i++)
    ledger_require(clone(map_and_execute, stacks[i] + kStackBytes, CLONE_VM | SIGCHLD, &ready[i]) > 0, "clone works");
  for (unsigned i = 0; i < count; i++) {
    char* at = in_maker(NULL, 6);
    unmap(at + kPage, 2);
    while (!__atomic_load_n(&ready[i], __ATOMIC_ACQUIRE)) sched_yield();
  }
  wait_for_all();
  line("in_maker/anonymous/program", 6 * count, 2 * count);
  line("in_sharer/anonymous/program", 4 * count, 0);
  end();
}

/* Threads map and unmap, more each time, while another one makes processes: each begins with what was there then. */
static int is_over;
static uint64_t mapped_pages, unmapped_pages;

static void* map_all_the_time(void* argument) {
  (void)argument;
  for (size_t i = 0; !__atomic_load_n(&is_over, __ATOMIC_RELAXED); i++) {
    size_t pages = 2 + i % 5;
    char* at = in_thread(NULL, pages);
    unmap(at + kPage, pages - 1 - i % 2 * (pages > 2));
    __atomic_fetch_add(&mapped_pages, pages, __ATOMIC_RELAXED);
    __atomic_fetch_add(&unmapped_pages, pages - 1 - i % 2 * (pages > 2), __ATOMIC_RELAXED);
    if (i % 3) ledger_require(!madvise(at, kPage, MADV_DONTFORK), "madvise works");
    if (i > 3000) break;
  }
  return NULL;
}

static void threads(unsigned count) {
  pthread_t thread[kThreads];
  begin();
  for (size_t i = 0; i < kThreads; i++)
    ledger_require(!pthread_create(&thread[i], NULL, map_all_the_time, NULL), "threads can be made");
  for (unsigned i = 0; i < count; i++) {
    if (fork()) continue;
    begin();
    unmap(in_child(NULL, 3), 1);
    if (i % 3 == 2) execute("program", 0);
    line("in_child/anonymous/program", 3, 1);
    end();
  }
  wait_for_all();
  __atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
  for (size_t i = 0; i < kThreads; i++) pthread_join(thread[i], NULL);
  line("in_thread/anonymous/program", mapped_pages, unmapped_pages);
  end();
}

/* By a thread that is not the first, beside others. */
static void* execute_in_thread(void* argument) {
  unmap(in_replaced(NULL, 3), 1);
  execute("program", 0);
  return argument;
}

static void thread_execs(unsigned count) {
  begin();
  for (unsigned i = 0; i < count; i++) {
    pthread_t thread;
    in_maker(NULL, 2);
    if (fork()) continue;
    for (int n = 0; n < kThreads; n++)
      ledger_require(!pthread_create(&thread, NULL, n ? map_all_the_time : execute_in_thread, NULL),
                     "threads can be made");
    pause();
  }
  wait_for_all();
  line("in_maker/anonymous/program", 2 * count, 0);
  end();
}

/* Downwards by itself, copied, and over others. */
static void growing(unsigned count) {
  begin();
  char* at = in_growing(hole(3000) + 2000 * kPage, 2);
  for (unsigned i = 0; i <= count; i++) {
    if (i < count && fork()) continue;
    if (i < count) begin();
    if (i < count) in_child(NULL, 2);
    for (char* page = at; page > at - (10 + (int)i) * kPage; page -= kPage) *(volatile char*)page = 1;
    if (i == count) break;
    line("in_child/anonymous/program", 2, 0);
    end();
  }
  wait_for_all();
  unmap(at - 3 * kPage, 2);
  line("in_growing/stack/program", 2 + 9 + count, 2);
  end();
}

int main(int argc, char** argv) {
  ledger_require(argc >= 3, "arguments");
  unsigned count = argc > 3 ? (unsigned)atoi(argv[3]) : 0;
  const struct {
    const char* name;
    void (*make)(unsigned);
  } families[] = {{"program", program}, {"busy", busy},       {"forks", forks},
                  {"chain", chain},     {"vforks", vforks},   {"sharers", sharers},
                  {"threads", threads}, {"growing", growing}, {"thread_execs", thread_execs}};
  directory = argv[1];
  for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
    if (!strcmp(argv[2], families[i].name)) families[i].make(count);
}
