// Calls of one function that is changed meanwhile: one_function FUNCTION. As in calls.c the test steps from the first
// of two breakpoints to the second. The change is made at the first of all.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { kKept = 7 };

// Calls a function that may leave any register, and the stack pointer, changed.
void* guarded_call(void* function, uint64_t first, uint64_t second, uint64_t third);
__asm__(
    ".globl guarded_call\n"
    "guarded_call:\n"
    "  push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"
    "  sub $8, %rsp\n"
    "  mov %rsp, stack_pointer(%rip)\n"
    // None of them holds the size by chance.
    "  mov $1, %ebx; mov $2, %ebp; mov $3, %r12d; mov $4, %r13d; mov $5, %r14d; mov $6, %r15d\n"
    "  mov %rdi, %rax; mov %rsi, %rdi; mov %rdx, %rsi; mov %rcx, %rdx\n"
    "  call *%rax\n"
    "  mov stack_pointer(%rip), %rsp\n"
    "  add $8, %rsp\n"
    "  pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx\n"
    "  cld\n"
    "  ret\n"
    ".local stack_pointer\n"
    ".comm stack_pointer, 8\n");

static void* function;
static const char* name;

static void* call(uint64_t size, uint64_t first, uint64_t second, uint64_t third) {
  __asm__ volatile("int3" : : "a"(1), "D"(size), "S"(0) : "memory");
  void* made = guarded_call(function, first, second, third);
  if (strcmp(name, "posix_memalign") == 0) made = made ? NULL : *(void**)first;
  __asm__ volatile("int3" : : "a"(2), "D"(made), "S"(0) : "memory");
  return made;
}

static int is_called(const char* wanted) { return strcmp(name, wanted) == 0; }

static void* make(uint64_t size, void* old) {
  static void* made;
  if (is_called("calloc")) return call(size / 3 * 3, size / 3, 3, 0);
  if (is_called("realloc")) return call(size + !size, (uint64_t)old, size + !size, 0);
  if (is_called("reallocarray")) return call(2 * size + 2, (uint64_t)old, size + 1, 2);
  if (is_called("memalign") || is_called("aligned_alloc")) return call(size, 64, size, 0);
  if (is_called("posix_memalign")) return call(size, (uint64_t)&made, 64, size);
  return call(size, size, 0, 0);
}

int main(int argc, char** argv) {
  static const uint64_t sizes[] = {0, 24, 25, 100, 1000, 1033, 5000, 70000, 200000};
  enum { kSizes = sizeof sizes / sizeof *sizes };
  if (argc < 2) return 2;
  name = argv[1];
  function = dlsym(RTLD_DEFAULT, name);
  // If a change makes it run forever.
  alarm(20);
  // Some of the thread's free blocks are of these sizes, and of some sizes it has none.
  void* kept[kSizes][kKept];
  for (int i = 0; i < kSizes; ++i) {
    for (int j = 0; j < kKept; ++j) kept[i][j] = malloc(sizes[i]);
  }
  void* old[kSizes];
  for (int i = 0; i < kSizes; ++i) old[i] = malloc(sizes[kSizes - 1 - i]);
  for (int i = 0; i < kSizes; i += 2) {
    for (int j = 0; j < kKept; ++j) free(kept[i][j]);
  }
  __asm__ volatile("int3" : : "a"(3), "D"(memset), "S"(memcpy), "d"(memmove) : "memory");

  for (int i = 0; i < kSizes; ++i) {
    make(sizes[i], NULL);
    make(sizes[i], old[i]);
  }
  make(PTRDIFF_MAX - 4096, NULL);
  struct rlimit limit;
  getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = 1 << 20;
  setrlimit(RLIMIT_AS, &limit);
  for (int i = 0; i < kSizes; ++i) make(sizes[i] * 100, NULL);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_AS, &limit);
  // What it has returned may be no block: the end, if so.
  for (int i = 0; i < kSizes; ++i) free(make(sizes[i], NULL));
  for (int i = 0; i < kSizes; ++i) make(sizes[i], make(sizes[i], NULL));
  __asm__ volatile("int3" : : "a"(1), "D"(0), "S"(2) : "memory");
  return 0;
}
