/* A library whose malloc and realloc jump back to their own first instructions, as compilers make it of
 * `while (size & 15) size++` when they optimize for size: what is there at a later turn is not what was asked for.
 * Blocks have no contents that anybody looks at, and one thread makes them. */
#include <stddef.h>
#include <stdint.h>

#define EXPORTED __attribute__((noinline, noipa, visibility("default")))

enum { kHeapBytes = 1 << 24 };

static char heap[kHeapBytes] __attribute__((aligned(16)));
__attribute__((visibility("hidden"), used)) char* looping_next = heap;
static volatile size_t freed;

/* `size`: the register that has it, and `low` its lowest byte. */
#define LOOPING(name, size, low)          \
  __asm__(                                \
      ".text\n"                           \
      ".globl " name                      \
      "\n"                                \
      ".type " name ", @function\n" name  \
      ":\n"                               \
      ".cfi_startproc\n"                  \
      "0: test $15, %" low                \
      "\n"                                \
      "je 1f\n"                           \
      "inc %" size                        \
      "\n"                                \
      "jmp 0b\n"                          \
      "1: mov looping_next(%rip), %rax\n" \
      "lea 16(%rax, %" size               \
      "), %rdx\n"                         \
      "mov %rdx, looping_next(%rip)\n"    \
      "test %rax, %rax\n"                 \
      "je 2f\n"                           \
      "ret\n"                             \
      "2: xor %eax, %eax\n"               \
      "ret\n"                             \
      ".cfi_endproc\n"                    \
      ".size " name ", . - " name "\n")
LOOPING("malloc", "rdi", "dil");
LOOPING("realloc", "rsi", "sil");

EXPORTED void* calloc(size_t count, size_t each) {
  char* block = looping_next;
  looping_next += (count * each + 31) & ~(size_t)15;
  return block;
}
EXPORTED void free(void* block) { freed += block != NULL; }
