/* Preloaded into hawktrace by faults_test.cpp: counts the calls of one kind, and makes the n-th of them fail, or all
 * from the n-th on. What it is to do, and what it saw, is in a file that the test maps as well (plan.h).
 *
 * The BPF objects that are made are noted there too.
 *
 * Failing calls never reach the kernel or the allocator; all others are made as they are. Nothing here allocates. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/kernel/faults/plan.h"

static struct fault_plan* plan;

/* The real system call, which glibc's syscall() here below replaces. */
static long raw_syscall(long number, long a, long b, long c, long d, long e, long f) {
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  if (result >= 0 || result < -4095) return result;
  errno = (int)-result;
  return -1;
}

__attribute__((constructor)) static void start(void) {
  const char* path = getenv(FAULT_PLAN_VARIABLE);
  if (!path) return;
  const long fd = raw_syscall(SYS_openat, AT_FDCWD, (long)path, O_RDWR | O_CLOEXEC, 0, 0, 0);
  if (fd < 0) abort();
  const long mapped = raw_syscall(SYS_mmap, 0, sizeof(*plan), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  raw_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
  if (mapped == -1) abort();
  /* What hawktrace starts is left alone. */
  unsetenv("LD_PRELOAD");
  unsetenv(FAULT_PLAN_VARIABLE);
  plan = (struct fault_plan*)mapped;
}

/* Whether the call that is being made, of this kind, is one that fails. */
static int fails(enum fault_kind kind) {
  if (!plan || plan->kind != kind) return 0;
  const uint64_t number = __atomic_add_fetch(&plan->calls, 1, __ATOMIC_RELAXED);
  if (plan->first == 0 || number < plan->first || (number > plan->first && !plan->for_ever)) return 0;
  __atomic_fetch_add(&plan->failed, 1, __ATOMIC_RELAXED);
  if (plan->error != 0) errno = plan->error;
  return 1;
}

void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);

void* malloc(size_t n) { return fails(FAULT_MEMORY) ? NULL : __libc_malloc(n); }
void* calloc(size_t count, size_t n) { return fails(FAULT_MEMORY) ? NULL : __libc_calloc(count, n); }
void* realloc(void* old, size_t n) { return fails(FAULT_MEMORY) ? NULL : __libc_realloc(old, n); }
void* aligned_alloc(size_t alignment, size_t n) { return fails(FAULT_MEMORY) ? NULL : __libc_memalign(alignment, n); }
int posix_memalign(void** result, size_t alignment, size_t n) {
  if (fails(FAULT_MEMORY)) return ENOMEM;
  *result = __libc_memalign(alignment, n);
  return *result ? 0 : ENOMEM;
}

static mode_t mode_of(int flags, va_list* arguments) {
  return (flags & (O_CREAT | __O_TMPFILE)) != 0 ? va_arg(*arguments, mode_t) : 0;
}
static int open_file(int directory, const char* path, int flags, mode_t mode) {
  return fails(FAULT_OPEN) ? -1 : (int)raw_syscall(SYS_openat, directory, (long)path, flags, mode, 0, 0);
}
#define OPEN(directory, path, flags)        \
  va_list arguments;                        \
  va_start(arguments, flags);               \
  mode_t mode = mode_of(flags, &arguments); \
  va_end(arguments);                        \
  return open_file(directory, path, flags, mode)
int open(const char* path, int flags, ...) { OPEN(AT_FDCWD, path, flags); }
int open64(const char* path, int flags, ...) { OPEN(AT_FDCWD, path, flags); }
int openat(int directory, const char* path, int flags, ...) { OPEN(directory, path, flags); }
int openat64(int directory, const char* path, int flags, ...) { OPEN(directory, path, flags); }

/* dlsym is not made to fail: its calls of malloc count like others. */
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
FILE* fopen(const char* path, const char* mode) { return fails(FAULT_OPEN) ? NULL : REAL(fopen)(path, mode); }
FILE* fopen64(const char* path, const char* mode) { return fails(FAULT_OPEN) ? NULL : REAL(fopen)(path, mode); }
DIR* opendir(const char* path) { return fails(FAULT_OPEN) ? NULL : REAL(opendir)(path); }

/* A read that "fails" without an error is a short one. */
static ssize_t read_some(long number, int fd, void* to, size_t n, off_t at) {
  if (fails(FAULT_READ)) {
    if (plan->error != 0 || n == 0) return -1;
    n = 1;
  }
  return raw_syscall(number, fd, (long)to, (long)n, at, 0, 0);
}
ssize_t read(int fd, void* to, size_t n) { return read_some(SYS_read, fd, to, n, 0); }
ssize_t pread(int fd, void* to, size_t n, off_t at) { return read_some(SYS_pread64, fd, to, n, at); }
ssize_t pread64(int fd, void* to, size_t n, off64_t at) { return read_some(SYS_pread64, fd, to, n, at); }

ssize_t write(int fd, const void* from, size_t n) {
  if (fails(FAULT_WRITE)) {
    if (plan->error != 0 || n == 0) return -1;
    n = 1;
  }
  return raw_syscall(SYS_write, fd, (long)from, (long)n, 0, 0, 0);
}

void* mmap(void* at, size_t n, int protection, int flags, int fd, off_t offset) {
  if (fails(FAULT_MAP)) return MAP_FAILED;
  return (void*)raw_syscall(SYS_mmap, (long)at, (long)n, protection, flags, fd, offset);
}
void* mmap64(void* at, size_t n, int protection, int flags, int fd, off64_t offset) {
  return mmap(at, n, protection, flags, fd, offset);
}

#define DESCRIPTOR(...) (fails(FAULT_DESCRIPTOR) ? -1 : (int)raw_syscall(__VA_ARGS__))
int pipe2(int ends[2], int flags) { return DESCRIPTOR(SYS_pipe2, (long)ends, flags, 0, 0, 0, 0); }
int pipe(int ends[2]) { return pipe2(ends, 0); }
int eventfd(unsigned count, int flags) { return DESCRIPTOR(SYS_eventfd2, count, flags, 0, 0, 0, 0); }
int timerfd_create(int clock, int flags) { return DESCRIPTOR(SYS_timerfd_create, clock, flags, 0, 0, 0, 0); }
int signalfd(int fd, const sigset_t* mask, int flags) {
  return DESCRIPTOR(SYS_signalfd4, fd, (long)mask, 8, flags, 0, 0);
}
int epoll_create1(int flags) { return DESCRIPTOR(SYS_epoll_create1, flags, 0, 0, 0, 0, 0); }
int epoll_ctl(int epoll, int what, int fd, struct epoll_event* event) {
  return DESCRIPTOR(SYS_epoll_ctl, epoll, what, fd, (long)event, 0, 0);
}
int memfd_create(const char* name, unsigned flags) {
  return DESCRIPTOR(SYS_memfd_create, (long)name, flags, 0, 0, 0, 0);
}
int dup(int fd) { return DESCRIPTOR(SYS_dup, fd, 0, 0, 0, 0, 0); }
int socketpair(int domain, int type, int protocol, int ends[2]) {
  return DESCRIPTOR(SYS_socketpair, domain, type, protocol, (long)ends, 0, 0);
}

int poll(struct pollfd* fds, nfds_t count, int timeout) {
  return fails(FAULT_WAIT) ? -1 : (int)raw_syscall(SYS_poll, (long)fds, (long)count, timeout, 0, 0, 0);
}
int epoll_wait(int epoll, struct epoll_event* events, int most, int timeout) {
  if (fails(FAULT_WAIT)) return -1;
  return (int)raw_syscall(SYS_epoll_wait, epoll, (long)events, most, timeout, 0, 0);
}

/* The id of an object that has just been made; 0: none, or it cannot be asked for. */
static uint32_t id_of(int fd, enum fault_object_type type) {
  union {
    struct bpf_map_info map;
    struct bpf_prog_info program;
    struct bpf_link_info link;
    struct bpf_btf_info btf;
  } info;
  memset(&info, 0, sizeof(info));
  union bpf_attr attributes;
  memset(&attributes, 0, sizeof(attributes));
  attributes.info.bpf_fd = (uint32_t)fd;
  attributes.info.info = (uint64_t)(uintptr_t)&info;
  attributes.info.info_len = type == FAULT_BTF_OBJECT ? sizeof(info.btf) : 2 * sizeof(uint32_t);
  const int before = errno;
  const long failed = raw_syscall(SYS_bpf, BPF_OBJ_GET_INFO_BY_FD, (long)&attributes, sizeof(attributes.info), 0, 0, 0);
  errno = before;
  if (failed) return 0;
  /* All others begin with their type and their id. */
  return type == FAULT_BTF_OBJECT ? info.btf.id : info.map.id;
}

static void note_object(int fd, enum fault_object_type type) {
  const uint32_t id = plan ? id_of(fd, type) : 0;
  if (!id) return;
  const uint64_t at = __atomic_fetch_add(&plan->object_count, 1, __ATOMIC_RELAXED);
  if (at < FAULT_MAX_OBJECTS) plan->objects[at] = (struct fault_object){.type = type, .id = id};
}

static void note_result(long command, long fd) {
  if (fd < 0) return;
  if (command == BPF_MAP_CREATE) note_object((int)fd, FAULT_MAP_OBJECT);
  if (command == BPF_PROG_LOAD) note_object((int)fd, FAULT_PROGRAM_OBJECT);
  if (command == BPF_LINK_CREATE) note_object((int)fd, FAULT_LINK_OBJECT);
  if (command == BPF_RAW_TRACEPOINT_OPEN) note_object((int)fd, FAULT_LINK_OBJECT);
  if (command == BPF_BTF_LOAD) note_object((int)fd, FAULT_BTF_OBJECT);
}

static int kind_of(long number) {
  switch (number) {
    case SYS_bpf:
      return FAULT_BPF;
    case SYS_perf_event_open:
    case SYS_pidfd_open:
      return FAULT_DESCRIPTOR;
    case SYS_openat2:
      return FAULT_OPEN;
    default:
      return FAULT_NONE;
  }
}

long syscall(long number, ...) {
  va_list list;
  va_start(list, number);
  long a[6];
  for (int i = 0; i < 6; i++) a[i] = va_arg(list, long);
  va_end(list);
  const int kind = kind_of(number);
  if (kind != FAULT_NONE && fails(kind)) return -1;
  const long result = raw_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  if (number == SYS_bpf) note_result(a[0], result);
  return result;
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start_routine)(void*), void* argument) {
  static __typeof__(&pthread_create) real;
  if (!real) real = REAL(pthread_create);
  return fails(FAULT_THREAD) ? EAGAIN : real(thread, attributes, start_routine, argument);
}

/* What hawktrace has spawned, by handles that lead to no other process later. */
enum { MAX_SPAWNED = 256 };
static int spawned[MAX_SPAWNED];
static unsigned spawned_count;

int posix_spawn(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
                const posix_spawnattr_t* attributes, char* const arguments[], char* const environment[]) {
  static __typeof__(&posix_spawn) real;
  if (!real) real = REAL(posix_spawn);
  if (fails(FAULT_SPAWN)) return plan->error;
  const int error = real(pid, path, actions, attributes, arguments, environment);
  if (error != 0 || !plan || plan->kind != FAULT_READER) return error;
  const unsigned at = __atomic_fetch_add(&spawned_count, 1, __ATOMIC_RELAXED);
  if (at < MAX_SPAWNED) spawned[at] = (int)raw_syscall(SYS_pidfd_open, *pid, 0, 0, 0, 0, 0);
  return 0;
}

ssize_t sendmsg(int socket, const struct msghdr* message, int flags) {
  if (fails(FAULT_READER)) {
    for (unsigned i = 0; i < MAX_SPAWNED; i++) {
      if (spawned[i] > 0) raw_syscall(SYS_pidfd_send_signal, spawned[i], SIGKILL, 0, 0, 0, 0);
    }
  }
  return raw_syscall(SYS_sendmsg, socket, (long)message, flags, 0, 0, 0);
}
