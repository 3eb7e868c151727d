/* Preloaded: writes the registers and the stack of randomly chosen calls of the allocator into a file, for two
 * unwinders to be compared on exactly the same contents.
 *
 * A call that is not chosen costs one decrement. A chosen one is written with the registers as they are at the
 * allocator's first instruction, saved before any code of this library has run; then the real allocator takes over with
 * the stack as it found it. Nothing here allocates, and every file is closed again at once, because programs close
 * descriptors that they do not know. */
#define _GNU_SOURCE
#include "tests/unwinding/dump.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define HIDDEN __attribute__((visibility("hidden")))

/* What the entry code below leaves on the stack; its last word is the return address, at the caller's stack pointer. */
struct entry {
  uint64_t rbx, rbp, r12, r13, r14, r15;
  uint64_t arguments[3];
  uint64_t return_address;
};

/* Calls until the next dump of this thread; below 0: this one. */
HIDDEN __thread long hawk_dump_countdown __attribute__((tls_model("initial-exec")));
HIDDEN void* hawk_dump_posix_memalign;
HIDDEN void* hawk_dump_aligned_alloc;
HIDDEN void hawk_dump_call(const struct entry* entry, uint64_t pc);

/* name: jumps to the real function, after hawk_dump_call() when the thread's countdown has run out. */
#define ALLOCATOR(name, real)                                                                            \
  __asm__(".text\n.globl " #name "\n.type " #name ",@function\n.p2align 4\n" #name                       \
          ":\n"                                                                                          \
          "  .cfi_startproc\n"                                                                           \
          "  mov hawk_dump_countdown@gottpoff(%rip), %rax\n"                                             \
          "  subq $1, %fs:(%rax)\n"                                                                      \
          "  js 1f\n"                                                                                    \
          "0: jmp *" real                                                                                \
          "(%rip)\n"                                                                                     \
          "1: push %rdi\n  .cfi_adjust_cfa_offset 8\n"                                                   \
          "  push %rsi\n  .cfi_adjust_cfa_offset 8\n"                                                    \
          "  push %rdx\n  .cfi_adjust_cfa_offset 8\n"                                                    \
          "  push %r15\n  .cfi_adjust_cfa_offset 8\n"                                                    \
          "  push %r14\n  .cfi_adjust_cfa_offset 8\n"                                                    \
          "  push %r13\n  .cfi_adjust_cfa_offset 8\n"                                                    \
          "  push %r12\n  .cfi_adjust_cfa_offset 8\n"                                                    \
          "  push %rbp\n  .cfi_adjust_cfa_offset 8\n"                                                    \
          "  push %rbx\n  .cfi_adjust_cfa_offset 8\n"                                                    \
          "  mov %rsp, %rdi\n"                                                                           \
          "  lea " #name                                                                                 \
          "_entry(%rip), %rsi\n"                                                                         \
          "  call hawk_dump_call\n"                                                                      \
          "  add $48, %rsp\n  .cfi_adjust_cfa_offset -48\n" /* the C function has preserved those six */ \
          "  pop %rdx\n  .cfi_adjust_cfa_offset -8\n"                                                    \
          "  pop %rsi\n  .cfi_adjust_cfa_offset -8\n"                                                    \
          "  pop %rdi\n  .cfi_adjust_cfa_offset -8\n"                                                    \
          "  jmp 0b\n"                                                                                   \
          "  .cfi_endproc\n.size " #name ", .-" #name "\n.set " #name "_entry, " #name "\n")

ALLOCATOR(malloc, "__libc_malloc@GOTPCREL");
ALLOCATOR(calloc, "__libc_calloc@GOTPCREL");
ALLOCATOR(realloc, "__libc_realloc@GOTPCREL");
ALLOCATOR(memalign, "__libc_memalign@GOTPCREL");
ALLOCATOR(posix_memalign, "hawk_dump_posix_memalign");
ALLOCATOR(aligned_alloc, "hawk_dump_aligned_alloc");

enum { kMaxMaps = 1 << 18, kLine = 512 };

static struct {
  char directory[256];
  long every, limit;
  uint64_t seed;
  bool ready;
} options;

/* The process whose thread is writing; 0: none. A pid, because a child of fork() finds the lock as the parent's threads
 * left it. */
static int writer;

/* Of this program image; under the lock. */
static struct {
  int pid;        /* that the rest is of */
  char path[320]; /* of its file */
  long dumps;
  uint64_t maps_digest; /* of the code in the maps that were written last */
  char maps[kMaxMaps];
  size_t maps_bytes;
} image;

static __thread uint64_t random_state __attribute__((tls_model("initial-exec")));
static __thread bool is_inside __attribute__((tls_model("initial-exec")));

/* Other libraries' constructors allocate before one of ours would run; the environment is there before all of them. */
static void read_options(void) {
  if (options.ready || !environ) return;
  const char* directory = getenv(HAWK_DUMP_DIRECTORY);
  const char* every = getenv(HAWK_DUMP_EVERY);
  const char* limit = getenv(HAWK_DUMP_LIMIT);
  const char* seed = getenv(HAWK_DUMP_SEED);
  if (!directory || strlen(directory) >= sizeof(options.directory)) return;
  strcpy(options.directory, directory);
  options.every = every ? atol(every) : 1000;
  options.limit = limit ? atol(limit) : LONG_MAX;
  options.seed = seed ? strtoull(seed, NULL, 10) : 1;
  options.ready = true;
}

/* Of one thread; xorshift64*. */
static uint64_t next_random(void) {
  if (!random_state) random_state = (options.seed + 1) * 0x9e3779b97f4a7c15u ^ (uint64_t)gettid() << 20;
  random_state ^= random_state >> 12;
  random_state ^= random_state << 25;
  random_state ^= random_state >> 27;
  return random_state * 0x2545f4914f6cdd1du;
}

/* ---- /proc/self/maps -----------------------------------------------------------------------------------------------
 */

static bool read_maps(void) {
  int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  image.maps_bytes = 0;
  ssize_t bytes;
  while ((bytes = read(file, image.maps + image.maps_bytes, kMaxMaps - image.maps_bytes)) > 0)
    image.maps_bytes += (size_t)bytes;
  close(file);
  return bytes == 0;
}

static uint64_t hex(const char** at, const char* end) {
  uint64_t value = 0;
  for (; *at < end; ++*at) {
    unsigned digit = (unsigned char)**at;
    if (digit - '0' < 10) {
      value = value << 4 | (digit - '0');
    } else if (digit - 'a' < 6) {
      value = value << 4 | (digit - 'a' + 10);
    } else {
      break;
    }
  }
  return value;
}

struct maps_facts {
  uint64_t digest;    /* of all lines with code */
  uint64_t stack_end; /* of the mapping that holds the stack pointer; 0: there is none */
};

static struct maps_facts look_at_maps(uint64_t stack_pointer) {
  struct maps_facts facts = {.digest = 14695981039346656037u};
  const char* end = image.maps + image.maps_bytes;
  for (const char* line = image.maps; line < end;) {
    const char* next = memchr(line, '\n', (size_t)(end - line));
    next = next ? next + 1 : end;
    const char* at = line;
    uint64_t start = hex(&at, next);
    ++at;
    uint64_t stop = hex(&at, next);
    if (stack_pointer >= start && stack_pointer < stop) facts.stack_end = stop;
    bool is_code = next - at > 4 && at[3] == 'x'; /* " rwxp" */
    for (at = line; is_code && at < next; ++at) facts.digest = (facts.digest ^ (unsigned char)*at) * 1099511628211u;
    line = next;
  }
  return facts;
}

/* ---- records -------------------------------------------------------------------------------------------------------
 */

/* Makes the image that of this process; false: no file can be made. */
static bool begin_image(int pid) {
  if (image.pid == pid) return true;
  for (int number = 0; number < 10000; ++number) {
    snprintf(image.path, sizeof(image.path), "%s/%d.%d", options.directory, pid, number);
    int file = open(image.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0 && errno == EEXIST) continue;
    if (file < 0) return false;
    close(file);
    image.pid = pid;
    image.dumps = 0;
    image.maps_digest = 0;
    return true;
  }
  return false;
}

static void append(const struct iovec* pieces, int count) {
  int file = open(image.path, O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file < 0) return;
  ssize_t ignored = writev(file, pieces, count); /* a short write leaves a damaged end, which the reader reports */
  (void)ignored;
  close(file);
}

static void write_dump(const struct entry* entry, uint64_t pc) {
  uint64_t stack_pointer = (uint64_t)&entry->return_address;
  if (!read_maps()) return;
  struct maps_facts facts = look_at_maps(stack_pointer);
  if (!facts.stack_end) return;
  uint64_t bytes = facts.stack_end - stack_pointer;
  if (bytes > HAWK_DUMP_MAX_STACK) bytes = HAWK_DUMP_MAX_STACK;
  struct hawk_dump_stack stack = {pc,         stack_pointer, entry->rbx, entry->rbp,      entry->r12,
                                  entry->r13, entry->r14,    entry->r15, facts.stack_end, bytes};
  struct hawk_dump_record of_maps = {HAWK_DUMP_MAGIC, HAWK_DUMP_MAPS, image.maps_bytes};
  struct hawk_dump_record of_stack = {HAWK_DUMP_MAGIC, HAWK_DUMP_STACK, sizeof(stack) + bytes};
  struct iovec pieces[] = {{&of_maps, sizeof(of_maps)},
                           {image.maps, image.maps_bytes},
                           {&of_stack, sizeof(of_stack)},
                           {&stack, sizeof(stack)},
                           {(void*)stack_pointer, bytes}};
  bool has_new_maps = image.maps_digest != facts.digest;
  image.maps_digest = facts.digest;
  append(has_new_maps ? pieces : pieces + 2, has_new_maps ? 5 : 3);
}

/* A thread that finds the lock taken does not dump: waiting would change what the program does. */
static void dump_unless_busy(const struct entry* entry, uint64_t pc) {
  int pid = getpid();
  int holder = __atomic_load_n(&writer, __ATOMIC_RELAXED);
  if (holder == pid || !__atomic_compare_exchange_n(&writer, &holder, pid, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
    return;
  if (image.pid && image.pid != pid) random_state ^= (uint64_t)pid << 32; /* or all children would choose alike */
  if (begin_image(pid) && image.dumps++ < options.limit) write_dump(entry, pc);
  __atomic_store_n(&writer, 0, __ATOMIC_RELEASE);
}

static void resolve(void** into, const char* name) {
  if (!*into) *into = dlsym(RTLD_NEXT, name);
}

/* The first call of every thread comes here, so that what it jumps to is known then. */
void hawk_dump_call(const struct entry* entry, uint64_t pc) {
  if (is_inside) return;
  int error = errno;
  is_inside = true;
  resolve(&hawk_dump_posix_memalign, "posix_memalign");
  resolve(&hawk_dump_aligned_alloc, "aligned_alloc");
  read_options();
  bool is_first = random_state == 0;
  hawk_dump_countdown = 0; /* until the options are known: ask again with the next call */
  if (options.ready) {
    if (!is_first) dump_unless_busy(entry, pc);
    hawk_dump_countdown = (long)(next_random() % (uint64_t)(2 * options.every));
  }
  is_inside = false;
  errno = error;
}
