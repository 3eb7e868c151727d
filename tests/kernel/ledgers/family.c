/* Processes that make others, each of which writes a line of its own when it ends: its id, what it has allocated and
 * freed, and how many blocks it has freed that it had from the process that has made it. Nothing here allocates but
 * malloc itself.
 *
 * usage: family HOW FILE [COUNT [LIBRARY...]]      HOW: see main; with FAMILY_WAITS in its environment it waits first
 */
#define _GNU_SOURCE
#include "family.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define INHERITED 20
#define STACK_BYTES (256 * 1024)

extern char** environ;

static const char* self;
static char** libraries; /* to be preloaded */
static int library_count;
static void* blocks[INHERITED];

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

/* Every time with another allocator: the next of `libraries`. */
static void preload(unsigned number) { setenv("LD_PRELOAD", libraries[number % library_count], 1); }

static void preloads(unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    if (!fork()) {
      preload(i);
      execute(1);
    }
    if (i % 2) wait_for_all();
  }
  wait_for_all();
  work(3);
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

/* Until the other end of the pipe or terminal on standard input has something. */
static void await(int gate) {
  char byte;

  if (read(gate, &byte, 1) != 1) abort();
}

/* Brings an allocator along when it is told to. */
static void told(unsigned count) {
  if (write(STDOUT_FILENO, "ready\n", 6) != 6) abort();
  await(STDIN_FILENO);
  preload(0);
  execute(count);
}

static volatile sig_atomic_t ends_seen, others_seen;

static void on_child(int number, siginfo_t* info, void* context) {
  if (info->si_code == CLD_EXITED)
    ends_seen++;
  else
    others_seen++;
}

/* A parent that is told of everything sees nothing but the end. */
static void watch(unsigned count) {
  struct sigaction action = {.sa_sigaction = on_child, .sa_flags = SA_SIGINFO};

  sigaction(SIGCHLD, &action, NULL);
  for (unsigned i = 0; i < count; i++) {
    int status = 0;
    pid_t child = fork(), got;

    if (!child) {
      preload(i);
      execute(1);
    }
    while ((got = waitpid(child, &status, WUNTRACED | WCONTINUED)) < 0)
      ;
    if (got != child || !WIFEXITED(status) || WEXITSTATUS(status)) abort();
  }
  if (others_seen || ends_seen != (int)count) abort();
  work(3);
}

/* What `gated` waits for. */
static int gate[2];

static void run_gated(unsigned number) {
  dup2(gate[0], STDIN_FILENO);
  preload(number);
  execl(self, self, "gated", file, "1", NULL);
  abort();
}

static void gated(unsigned count) {
  work(10 * count);
  await(STDIN_FILENO);
}

/* Processes that are stopped as soon as they are there stay so, until they are continued by the one who has stopped
 * them. */
static void stopper(unsigned count) {
  if (pipe(gate)) abort();
  for (unsigned i = 0; i < count; i++) {
    siginfo_t info = {0};
    pid_t stopped = fork(), other;

    if (!stopped) run_gated(i);
    if (kill(stopped, SIGSTOP) || waitid(P_PID, stopped, &info, WSTOPPED)) abort();
    /* Something that hawktrace sees to after that. */
    other = fork();
    if (!other) {
      preload(i + 1);
      execute(1);
    }
    if (waitpid(other, NULL, 0) != other) abort();
    info.si_pid = 0;
    if (waitid(P_PID, stopped, &info, WEXITED | WCONTINUED | WNOHANG) || info.si_pid) abort();
    if (kill(stopped, SIGCONT) || waitid(P_PID, stopped, &info, WCONTINUED)) abort();
    if (write(gate[1], "", 1) != 1 || waitpid(stopped, NULL, 0) != stopped) abort();
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

/* A child whose program cannot be executed ends on its maker's memory. */
static void failing(unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    work(5);
    if (!vfork()) {
      execl("/nonexistent/program", "program", NULL);
      _exit(127);
    }
    wait_for_all();
    if (!vfork()) execute(1);
    wait_for_all();
  }
  work(3);
}

/* Every process makes two, down to a depth. */
static void bomb(unsigned depth) {
  for (int i = 0; depth && i < 2; i++) {
    if (fork()) continue;
    begin();
    work(10 + depth);
    bomb(depth - 1);
    write_line();
    _exit(0);
  }
  wait_for_all();
}

static void* execute_in_thread(void* nothing) {
  work(20);
  execute(1);
  return nothing;
}

static void* work_for_ever(void* nothing) {
  for (;;) work(100);
  return nothing;
}

/* A thread replaces the program, while the first one waits and another allocates. */
static void thread_executes(unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    if (!fork()) {
      pthread_t worker, thread;

      if (pthread_create(&worker, NULL, work_for_ever, NULL) || pthread_create(&thread, NULL, execute_in_thread, NULL))
        abort();
      for (;;) pause();
    }
    if (i % 2) wait_for_all();
  }
  wait_for_all();
  work(3);
}

static int fork_on_shared_memory(void* nothing) {
  work(20);
  if (!fork()) {
    begin();
    work(30);
    write_line();
    _exit(0);
  }
  wait_for_all();
  _exit(0);
}

/* Processes on the memory of the first, none of which is its thread, make some that have a copy of it. */
static void sharer_forks(unsigned count) {
  static char stack[STACK_BYTES];

  for (unsigned i = 0; i < count; i++) {
    if (clone(fork_on_shared_memory, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL) < 0) abort();
    wait_for_all();
  }
  work(3);
}

/* Two processes of the same number, one after the other. Where the number cannot be had again it is tried once more. */
static void reuses_number(unsigned count) {
  for (unsigned i = 0; i < count;) {
    char number[16];
    pid_t first = fork(), second;
    int last;

    if (!first) {
      begin();
      work(40 + i);
      write_line();
      _exit(0);
    }
    waitpid(first, NULL, 0);
    snprintf(number, sizeof(number), "%d", first - 1);
    last = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);
    if (last < 0 || write(last, number, strlen(number)) < 0) abort();
    close(last);
    second = fork();
    if (!second) {
      begin();
      work(70 + i);
      write_line();
      _exit(0);
    }
    waitpid(second, NULL, 0);
    i += second == first;
  }
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(unsigned count);
  } ways[] = {{"prefork", prefork},
              {"storm", storm},
              {"chain", chain},
              {"vfork", after_vfork},
              {"spawn", spawn},
              {"starter", starter},
              {"sharer", sharer},
              {"daemon", daemonize},
              {"preloads", preloads},
              {"told", told},
              {"watch", watch},
              {"gated", gated},
              {"stopper", stopper},
              {"failing", failing},
              {"bomb", bomb},
              {"thread", thread_executes},
              {"sharer_forks", sharer_forks},
              {"reuse", reuses_number}};

  wait_to_begin();
  self = "/proc/self/exe";
  file = argv[2];
  libraries = argv + 4;
  library_count = argc - 4;
  for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
    if (strcmp(argv[1], ways[i].name)) continue;
    ways[i].run(argc > 3 ? atoi(argv[3]) : 8);
    write_line();
    _exit(0);
  }
  return 1;
}
