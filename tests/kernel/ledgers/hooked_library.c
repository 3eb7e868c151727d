/* A library with an allocator of its own that calls allocator_hook, if there is one, in the middle of each call: a
 * function that cannot throw, and one that may. */
#include <stdatomic.h>
#include <stddef.h>

enum { kPoolBytes = 8 << 20, kAlignment = 16 };

void (*allocator_hook)(size_t bytes);
void* _Znwm(size_t bytes);

static _Alignas(kAlignment) char pool[kPoolBytes];
static atomic_size_t used;

/* Blocks are never used again. */
static inline __attribute__((always_inline)) void* allocate(size_t bytes) {
  if (allocator_hook) allocator_hook(bytes);
  size_t at = atomic_fetch_add(&used, (bytes + kAlignment - 1) & -(size_t)kAlignment);
  return at + bytes <= kPoolBytes ? pool + at : NULL;
}

__attribute__((noinline, noipa)) void* malloc(size_t bytes) { return allocate(bytes); }
/* operator new(std::size_t) */
__attribute__((noinline, noipa)) void* _Znwm(size_t bytes) { return allocate(bytes); }
__attribute__((noinline, noipa)) void free(void* block) { __asm__ volatile("" ::"r"(block)); }
