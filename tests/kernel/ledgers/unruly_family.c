/* Processes that make others, and do to them, or with them, what makes it hard to follow them. Each writes a line of
 * its own, as in family.c.
 *
 * usage: unruly_family HOW FILE [COUNT [PROGRAM]]      HOW: see main */
#define _GNU_SOURCE
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "family.h"

static const char* program; /* to be executed; NULL: this one */

static void require(int condition) {
  if (!condition) abort();
}

/* Runs the program from its beginning on, where it only works. */
static void execute(unsigned count) {
  char number[16];

  snprintf(number, sizeof(number), "%u", count);
  execl(program ? program : "/proc/self/exe", "family", "single", file, number, NULL);
  abort();
}

static void single(unsigned count) { work(10 * count); }

/* As many calls as `count` says, twice, after which nothing is left. */
static void churn(unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    free(take(40 + i % 64));
    done.freed_count++;
    done.freed_bytes += 40 + i % 64;
  }
}

/* All call without a pause, until a byte comes. With PROGRAM, that is executed before they end. */
static void pool(unsigned count) {
  volatile unsigned* is_over = mmap(NULL, sizeof(*is_over), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};

  require(is_over != MAP_FAILED);
  for (unsigned i = 0; i < count; i++) {
    if (fork()) continue;
    begin();
    while (!*is_over) churn(50);
    work(100 + i);
    write_line();
    _exit(0);
  }
  while (!poll(&input, 1, 0)) churn(50);
  if (program && !fork()) execute(5);
  if (program) wait(NULL);
  *is_over = 1;
  wait_for_all();
  work(3);
}

/* Nobody asks how they have ended until all have. */
static void zombies(unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    siginfo_t info;
    pid_t child = fork();

    if (!child) {
      if (i % 2) execute(1);
      begin();
      work(10 + i);
      write_line();
      _exit(0);
    }
    require(!waitid(P_PID, child, &info, WEXITED | WNOWAIT));
    work(5);
  }
  wait_for_all();
}

/* A debugger of its children: of every system call, or of every instruction for a while, and of their execs. */
static void debugger(unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    int status = 0, steps = 0;
    pid_t child = fork();

    if (!child) {
      require(!ptrace(PTRACE_TRACEME, 0, NULL, NULL));
      raise(SIGSTOP);
      begin();
      work(3);
      execute(1);
    }
    require(waitpid(child, &status, 0) == child && WIFSTOPPED(status));
    require(!ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD));
    for (;;) {
      int how = i % 2 == 0 ? PTRACE_SYSCALL : steps++ < 2000 ? PTRACE_SINGLESTEP : PTRACE_CONT;

      require(!ptrace(how, child, NULL, NULL));
      require(waitpid(child, &status, 0) == child);
      if (WIFEXITED(status)) break;
      require(WIFSTOPPED(status));
    }
    require(!WEXITSTATUS(status));
    work(5);
  }
}

/* Children that are their maker's siblings: the process that has started this one is told when they end. */
static void siblings(unsigned count) {
  int ends[2];
  char byte;

  require(!pipe(ends));
  for (unsigned i = 0; i < count; i++) {
    pid_t child = syscall(SYS_clone, CLONE_PARENT | SIGCHLD, NULL, NULL, NULL, NULL);

    if (!child) {
      begin();
      work(20 + i);
      write_line();
      _exit(0);
    }
    require(child > 0);
    work(5);
  }
  close(ends[1]);
  require(read(ends[0], &byte, 1) == 0);
}

/* Each in a namespace of the one before: process 1 of its own. */
static void nested(unsigned depth) {
  pid_t child;

  work(10 + depth);
  if (!depth) return;
  require(!unshare(CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC));
  child = fork();
  if (!child) {
    begin();
    nested(depth - 1);
    write_line();
    _exit(0);
  }
  wait_for_all();
}

static void* fork_and_work(void* number) {
  if (!fork()) {
    if ((uintptr_t)number % 2) execute(1);
    begin();
    work(10);
    write_line();
    _exit(0);
  }
  return NULL;
}

/* Threads that all make processes at once, and end. */
static void forking_threads(unsigned count) {
  pthread_t threads[8];

  for (unsigned i = 0; i < count; i += 8) {
    for (uintptr_t j = 0; j < 8; j++) require(!pthread_create(&threads[j], NULL, fork_and_work, (void*)j));
    for (unsigned j = 0; j < 8; j++) pthread_join(threads[j], NULL);
    wait_for_all();
  }
  execute(1); /* what threads have taken is not counted here */
}

/* A program that makes them another user, perhaps. */
static void executes(unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    if (!fork()) execute(5);
    wait_for_all();
  }
  work(3);
}

/* Killed wherever they are, in the middle of an exec perhaps. Those that are left write lines. */
static void massacre(unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    int fds[2], status = 0;
    pid_t child;
    char byte;

    require(!pipe2(fds, O_CLOEXEC));
    child = fork();
    if (!child) {
      close(fds[0]);
      begin();
      execl("/proc/self/exe", "family", "endless", file, "1", NULL);
      abort();
    }
    close(fds[1]);
    for (volatile unsigned j = 0; j < i * 997; j++)
      ;
    require(i % 2 || read(fds[0], &byte, 1) == 0); /* the exec has closed it */
    require(!kill(child, SIGKILL) && waitpid(child, &status, 0) == child && WIFSIGNALED(status));
    close(fds[0]);
  }
  work(3);
}

/* Libc's code as its file has it. */
static int drop_code(struct dl_phdr_info* info, size_t size, void* nothing) {
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const uintptr_t page = 4095, start = (info->dlpi_addr + info->dlpi_phdr[i].p_vaddr) & ~page;
    const uintptr_t end = (info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz + page) & ~page;

    if (start > (uintptr_t)malloc || end <= (uintptr_t)malloc) continue;
    require(!madvise((void*)start, end - start, MADV_DONTNEED));
    return 1;
  }
  return 0;
}

/* What it takes from here on no probe sees. */
static void drop(unsigned count) {
  require(dl_iterate_phdr(drop_code, NULL) == 1);
  work(count);
}

/* Children that do that, as copies or as programs of their own, and end at once. */
static void droppers(unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    if (fork()) continue;
    if (i % 2) execl("/proc/self/exe", "family", "drop", file, "30", NULL);
    begin();
    drop(20);
    write_line();
    _exit(0);
  }
  wait_for_all();
  work(3);
}

static void endless(unsigned count) {
  for (;;) churn(count);
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(unsigned count);
  } ways[] = {{"single", single},
              {"pool", pool},
              {"zombies", zombies},
              {"debugger", debugger},
              {"siblings", siblings},
              {"nested", nested},
              {"forking_threads", forking_threads},
              {"executes", executes},
              {"massacre", massacre},
              {"drop", drop},
              {"droppers", droppers},
              {"endless", endless}};

  file = argv[2];
  program = argc > 4 ? argv[4] : NULL;
  for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
    if (strcmp(argv[1], ways[i].name)) continue;
    ways[i].run(argc > 3 ? atoi(argv[3]) : 8);
    write_line();
    _exit(0);
  }
  return 1;
}
