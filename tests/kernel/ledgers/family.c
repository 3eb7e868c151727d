/* Processes that make others, each of which writes a line of its own when it ends: its id, what it has allocated and
 * freed, and how many blocks it has freed that it had from the process that has made it. Nothing here allocates but
 * malloc itself.
 *
 * usage: family HOW FILE [COUNT]      HOW: see main */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define INHERITED 20
#define STACK_BYTES (256 * 1024)

extern char** environ;

static const char *self, *file;
static struct { unsigned long allocated_count, allocated_bytes, freed_count, freed_bytes, inherited; } done;
static void* blocks[INHERITED];

static void* take(size_t bytes) {
  void* volatile block = malloc(bytes);

  done.allocated_count++;
  done.allocated_bytes += bytes;
  return block;
}

/* Allocates blocks, and frees every third. */
__attribute__((noinline)) static void work(unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    void* block = take(40 + i % 64);

    if (i % 3) continue;
    free(block);
    done.freed_count++;
    done.freed_bytes += 40 + i % 64;
  }
}

static void write_line(void) {
  char line[128];
  int length = snprintf(line, sizeof(line), "%d %lu %lu %lu %lu %lu\n", getpid(), done.allocated_count,
                        done.allocated_bytes, done.freed_count, done.freed_bytes, done.inherited);
  int fd = open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);

  if (fd < 0 || write(fd, line, length) != length) abort();
  close(fd);
}

/* A child made by fork begins with no calls of its own. */
static void begin(void) { memset(&done, 0, sizeof(done)); }

static void wait_for_all(void) {
  while (wait(NULL) > 0)
    ;
}

static void prefork(unsigned count) {
  for (int i = 0; i < INHERITED; i++) blocks[i] = take(100);
  for (unsigned i = 0; i < count; i++) {
    if (fork()) continue;
    begin();
    for (int j = 0; j < INHERITED; j++) free(blocks[j]);
    done.inherited = INHERITED;
    work(100 + i);
    write_line();
    _exit(0);
  }
  wait_for_all();
  work(7);
}

/* One after the other, four at a time. */
static void storm(unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    if (!fork()) {
      begin();
      work(10 + i % 7);
      write_line();
      _exit(0);
    }
    if (i % 4 == 3) wait_for_all();
  }
  wait_for_all();
}

static void execute(unsigned count) {
  char number[16];

  snprintf(number, sizeof(number), "%u", count);
  execl(self, self, "chain", file, number, NULL);
  abort();
}

/* What is allocated before an exec is gone with it. */
static void chain(unsigned count) {
  work(10 * count);
  if (count > 1 && !fork()) {
    work(5);
    execute(count - 1);
  }
  wait_for_all();
}

static void after_vfork(unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    if (!vfork()) execute(1);
  }
  wait_for_all();
  work(3);
}

static void spawn(unsigned count) {
  char* const arguments[] = {(char*)self, "chain", (char*)file, "1", NULL};
  pid_t pid;

  for (unsigned i = 0; i < count; i++) {
    if (posix_spawn(&pid, self, NULL, NULL, arguments, environ)) abort();
  }
  wait_for_all();
  work(3);
}

/* Goes on with its own work in between: what is done to the others must not be done to it. */
static void starter(unsigned count) {
  char* const arguments[] = {(char*)self, "chain", (char*)file, "1", NULL};
  pid_t pid;

  for (unsigned i = 0; i < count; i++) {
    work(50);
    if (i % 3 == 0) {
      if (!fork()) execute(1);
    } else if (i % 3 == 1) {
      if (!vfork()) execute(1);
    } else if (posix_spawn(&pid, self, NULL, NULL, arguments, environ)) {
      abort();
    }
    wait_for_all();
  }
  work(3);
}

static int share(void* nothing) {
  work(50);
  _exit(0);
}

/* On the same memory, and so with the same heap. */
static void sharer(unsigned count) {
  static char stack[STACK_BYTES];

  for (unsigned i = 0; i < count; i++) {
    if (clone(share, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL) < 0) abort();
    wait_for_all();
  }
  work(3);
}

/* The one that was started ends first. */
static void daemonize(unsigned count) {
  int ends[2];
  char byte;

  if (pipe(ends)) abort();
  if (fork()) return;
  setsid();
  if (fork()) _exit(0);
  begin();
  close(ends[1]);
  /* Until the first is gone. */
  if (read(ends[0], &byte, 1) != 0) abort();
  work(count);
  write_line();
  _exit(0);
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(unsigned count);
  } ways[] = {{"prefork", prefork}, {"storm", storm},     {"chain", chain},   {"vfork", after_vfork},
              {"spawn", spawn},     {"starter", starter}, {"sharer", sharer}, {"daemon", daemonize}};

  self = "/proc/self/exe";
  file = argv[2];
  for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
    if (strcmp(argv[1], ways[i].name)) continue;
    ways[i].run(argc > 3 ? atoi(argv[3]) : 8);
    write_line();
    _exit(0);
  }
  return 1;
}
