/* A library with an allocator of its own that calls allocator_hook, if there is one, in the middle of a malloc. An
 * exception may pass through it: to be built with -fexceptions. Such a call is seen twice, before the hook is called,
 * where it is known what was asked for, and where the block is; others are seen once. */
#include <stdatomic.h>
#include <stddef.h>

enum { kPoolBytes = 8 << 20, kAlignment = 16 };

void (*allocator_hook)(void);

static _Alignas(kAlignment) char pool[kPoolBytes];
static atomic_size_t used;

/* Instructions that the kernel emulates: where nothing has happened yet, and where nothing but the return is left. */
#define SIZE_IS_KNOWN(bytes) __asm__ volatile("nop" ::"r"(bytes))
#define BLOCK_IS_KNOWN(block) __asm__ volatile("nop" : "+r"(block))
#define ALL_IS_KNOWN(block, bytes) __asm__ volatile("nop" : "+r"(block) : "r"(bytes))

/* Blocks are never used again. */
__attribute__((noinline, noipa)) void* malloc(size_t bytes) {
  char* block = pool + atomic_fetch_add(&used, (bytes + kAlignment - 1) & -(size_t)kAlignment);
  if (__builtin_expect(!allocator_hook, 1)) {
    ALL_IS_KNOWN(block, bytes);
    return block;
  }
  SIZE_IS_KNOWN(bytes);
  allocator_hook();
  BLOCK_IS_KNOWN(block);
  return block;
}
__attribute__((noinline, noipa)) void free(void* block) { __asm__ volatile("" ::"r"(block)); }
