/* What each process of a family says of itself: ledgers/family.c. */
#ifndef HAWKTRACE_TESTS_LEDGERS_FAMILY_H
#define HAWKTRACE_TESTS_LEDGERS_FAMILY_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Where it writes that. */
static const char* file;
static struct { unsigned long allocated_count, allocated_bytes, freed_count, freed_bytes, inherited; } done;

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

/* With FAMILY_WAITS in its environment, as in none of its children's. */
static void wait_to_begin(void) {
  char byte;

  if (!getenv("FAMILY_WAITS")) return;
  unsetenv("FAMILY_WAITS");
  if (write(STDOUT_FILENO, "ready\n", 6) != 6 || read(STDIN_FILENO, &byte, 1) != 1) abort();
}

static void wait_for_all(void) {
  while (wait(NULL) > 0)
    ;
}

#endif
