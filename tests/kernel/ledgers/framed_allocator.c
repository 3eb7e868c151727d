/* A library with an allocator of its own, which runs a hook in the middle of each call, and gives blocks back to libc:
 * in its calls, and for the program. Where it does so it has a frame that is found by rbp alone. */
#include <alloca.h>
#include <stddef.h>

enum { kPoolBytes = 1 << 20, kAlignment = 16 };

void __libc_free(void*);
void (*allocator_hook)(void);
void* block_to_give_back;

static _Alignas(kAlignment) char pool[kPoolBytes];
static size_t used;

__attribute__((noinline, noipa)) void give_back(void* block, size_t room) {
  volatile char* frame = alloca(room);
  frame[0] = 1;
  __libc_free(block);
  frame[room - 1] = 1;
}

__attribute__((noinline, noipa)) void* malloc(size_t bytes) {
  if (allocator_hook) allocator_hook();
  if (block_to_give_back) give_back(block_to_give_back, bytes + kAlignment);
  block_to_give_back = NULL;
  size_t at = used;
  used += (bytes + kAlignment - 1) & -(size_t)kAlignment;
  return used <= kPoolBytes ? pool + at : NULL;
}

__attribute__((noinline, noipa)) void free(void* block) { __asm__ volatile("" ::"r"(block)); }
