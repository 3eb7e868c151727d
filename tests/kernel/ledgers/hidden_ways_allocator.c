/* A library whose allocator functions go ways that code does not show at once: over a trap whose handler returns, by
 * the thunks in place of indirect jumps and by a return to where it is to go on, past a callee that changes an argument
 * on the stack. And its free passes on where the block's header begins. One thread makes blocks. */
#include <stddef.h>
#include <string.h>

#define EXPORTED __attribute__((noinline, noipa, visibility("default")))
#define HIDDEN __attribute__((noinline, noipa, visibility("hidden"), used))

enum { kHeapBytes = 1 << 24, kHeaderBytes = 16 };

static char heap[kHeapBytes] __attribute__((aligned(16)));
HIDDEN char* ways_next = heap;
static volatile size_t freed;

HIDDEN void* ways_slowly(size_t alignment, size_t size) {
  char* block = ways_next + kHeaderBytes;
  (void)alignment;
  memcpy(ways_next, &size, sizeof(size));
  ways_next = block + ((size + 15) & ~(size_t)15);
  return block;
}

/* `label` is where it goes without a block. */
#define TAKE(size, label)       \
  "mov ways_next(%rip), %rdx\n" \
  "mov %" size                  \
  ", (%rdx)\n"                  \
  "lea 31(%rdx, %" size         \
  "), %rcx\n"                   \
  "and $-16, %rcx\n"            \
  "mov %rcx, ways_next(%rip)\n" \
  "lea 16(%rdx), %rax\n"        \
  "test %rax, %rax\n"           \
  "je " label "\n"
#define FUNCTION(name, code) \
  __asm__(                   \
      ".text\n"              \
      ".globl " name         \
      "\n"                   \
      ".type " name ", @function\n" name ":\n.cfi_startproc\n" code ".cfi_endproc\n.size " name ", . - " name "\n")

FUNCTION("malloc",
         "test $1, %dil\n"
         "jne 1f\n" TAKE("rdi", "2f") "ret\n"
         "1: int3\n" TAKE("rdi", "2f") "ret\n"
         "2: xor %eax, %eax\n"
         "ret\n");
FUNCTION("aligned_alloc",
         "test $1, %sil\n"
         "jne 1f\n" TAKE("rsi", "2f") "ret\n"
         "1: lea ways_slowly(%rip), %rax\n"
         "jmp 3f\n"
         "2: xor %eax, %eax\n"
         "ret\n"
         "3: call 5f\n"
         "4: pause\n"
         "lfence\n"
         "jmp 4b\n"
         "5: mov %rax, (%rsp)\n"
         "ret\n");
FUNCTION("memalign",
         "test $1, %sil\n"
         "jne 1f\n" TAKE("rsi", "2f") "ret\n"
         "1: lea ways_slowly(%rip), %rax\n"
         "push %rax\n"
         ".cfi_adjust_cfa_offset 8\n"
         "ret\n"
         ".cfi_adjust_cfa_offset -8\n"
         "2: xor %eax, %eax\n"
         "ret\n");
FUNCTION("valloc",
         "sub $24, %rsp\n"
         ".cfi_adjust_cfa_offset 24\n"
         "mov %rdi, (%rsp)\n"
         "call 3f\n" TAKE("rdi", "2f") "add $24, %rsp\n"
         ".cfi_adjust_cfa_offset -24\n"
         "ret\n"
         ".cfi_adjust_cfa_offset 24\n"
         "2: xor %eax, %eax\n"
         "add $24, %rsp\n"
         ".cfi_adjust_cfa_offset -24\n"
         "ret\n"
         "3: addq $1000, 8(%rsp)\n" /* its argument */
         "mov 8(%rsp), %rdi\n"
         "ret\n");

EXPORTED void* calloc(size_t count, size_t each) { return memset(ways_slowly(0, count * each), 0, count * each); }
EXPORTED void* realloc(void* old, size_t size) {
  void* block = ways_slowly(0, size);
  size_t before = 0;
  if (old != NULL) memcpy(&before, (char*)old - kHeaderBytes, sizeof(before));
  return old == NULL ? block : memcpy(block, old, before < size ? before : size);
}
EXPORTED void __libc_free(void* header) { freed += header != NULL; }
EXPORTED void free(void* block) {
  if (block != NULL) __libc_free((char*)block - kHeaderBytes);
}
