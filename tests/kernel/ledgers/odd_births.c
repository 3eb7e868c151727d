/* Processes that come to be, and to their programs, in rare ways. Each writes a line of its own, as in family.c.
 *
 * usage: odd_births HOW FILE [COUNT]      HOW: see main */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "family.h"

static void require(int condition) {
  if (!condition) abort();
}

static void execute(const char* how, unsigned count) {
  char number[16];

  snprintf(number, sizeof(number), "%u", count);
  execl("/proc/self/exe", "family", how, file, number, NULL);
  abort();
}

static void single(unsigned count) { work(10 * count); }

/* A process with a number that was chosen for it. 0: another one has that. */
static pid_t make_with(pid_t number) {
  struct clone_args args = {.exit_signal = SIGCHLD, .set_tid = (uintptr_t)&number, .set_tid_size = 1};
  pid_t child = syscall(SYS_clone3, &args, sizeof(args));

  require(child >= 0 || errno == EEXIST);
  if (!child) {
    begin();
    work(20);
    if (number % 2) execute("single", 2);
    write_line();
    _exit(0);
  }
  return child < 0 ? 0 : child;
}

static void chosen_numbers(unsigned count) {
  pid_t number = 1000 + getpid() / 2;

  for (unsigned i = 0; i < count; i++) {
    do number++;
    while (make_with(number) != number);
    wait_for_all();
  }
}

/* One after the other, all with one number. */
static void same_number(unsigned count) {
  pid_t number = 1001 + getpid() / 2;

  number += !(number % 2); /* so that they run another program */
  for (unsigned i = 0; i < count; i++) {
    while (make_with(number) != number) continue;
    wait_for_all();
  }
}

/* Each on the memory of the one before, until the last runs a program; then the others do. */
static void vfork_chain(unsigned depth) {
  pid_t child = vfork();

  require(child >= 0);
  if (child) return;
  if (depth > 1) vfork_chain(depth - 1);
  execute("single", depth);
}

static void vforks(unsigned count) {
  work(5);
  vfork_chain(count);
  wait_for_all();
  work(5);
}

/* The same process, program after program. The last one writes the line. */
static void again(unsigned count) {
  work(3);
  if (count) execute("again", count - 1);
}

static void execs(unsigned count) {
  for (unsigned i = 0; i < 4; i++) {
    if (!fork()) execute("again", count);
  }
  wait_for_all();
  work(3);
}

/* Generation after generation, all of which live until the last has ended. */
static void deep(unsigned count) {
  work(10 + count);
  if (count && !fork()) {
    begin();
    deep(count - 1);
    write_line();
    _exit(0);
  }
  wait_for_all();
}

/* The same, but no process waits for the one that it makes, which runs a program. */
static void leaving(unsigned count) {
  if (count && !fork()) execute("leaving", count - 1);
  work(7);
}

static int on_shared_memory(void* number) {
  if ((uintptr_t)number % 2) execute("single", 3);
  work(10);
  _exit(0);
}

/* On the memory of the first, of which they are no threads; every other one runs a program. */
static void sharers(unsigned count) {
  static char stack[65536];

  for (uintptr_t i = 0; i < count; i++) {
    require(clone(on_shared_memory, stack + sizeof(stack), CLONE_VM | SIGCHLD, (void*)i) > 0);
    wait_for_all();
  }
  work(3);
}

static void* run_program(void* nothing) {
  execute("single", 1);
  return nothing;
}

/* All threads want to run a program, while their process makes others, which write nothing. */
static void racing_execs(unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    pthread_t thread;

    if (fork()) continue;
    for (unsigned j = 0; j < 4; j++) pthread_create(&thread, NULL, run_program, NULL);
    for (;;) {
      if (!fork()) _exit(0);
      wait_for_all();
    }
  }
  wait_for_all();
  work(3);
}

/* Stopped and continued again and again while they run their first instructions. */
static void stopped(unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    int status;
    pid_t child = fork();

    if (!child) {
      raise(SIGSTOP);
      execute("single", 2);
    }
    require(waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status));
    kill(child, SIGCONT);
    for (unsigned j = 0; j < 20; j++) {
      kill(child, SIGSTOP);
      kill(child, SIGCONT);
    }
    require(waitpid(child, &status, 0) == child && WIFEXITED(status));
  }
  work(3);
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(unsigned count);
  } ways[] = {{"single", single},
              {"again", again},
              {"numbers", chosen_numbers},
              {"same_number", same_number},
              {"vforks", vforks},
              {"execs", execs},
              {"deep", deep},
              {"leaving", leaving},
              {"sharers", sharers},
              {"racing", racing_execs},
              {"stopped", stopped}};

  wait_to_begin();
  file = argv[2];
  for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
    if (argc < 4 || strcmp(argv[1], ways[i].name)) continue;
    ways[i].run(atoi(argv[3]));
    write_line();
    _exit(0);
  }
  return 1;
}
