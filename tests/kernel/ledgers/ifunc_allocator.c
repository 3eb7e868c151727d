/* An allocator whose functions are chosen when the program starts (STT_GNU_IFUNC), as by what the processor can do:
 * slots of one size. */
#include <cpuid.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

enum { kSlotBytes = 4096, kSlots = 4096 };
static _Alignas(64) char slots[kSlots][kSlotBytes];
static _Atomic(unsigned char) taken[kSlots];

#define CODE __attribute__((noinline, used)) static

CODE void* take_slot(size_t n) {
  if (n > kSlotBytes) return NULL;
  for (size_t i = 0; i < kSlots; i++) {
    if (!atomic_exchange(&taken[i], 1)) return memset(slots[i], 0, kSlotBytes);
  }
  return NULL;
}

CODE void give_slot_back(void* block) {
  size_t index = (size_t)((char*)block - slots[0]) / kSlotBytes;
  if ((char*)block >= slots[0] && index < kSlots) atomic_store(&taken[index], 0);
}

CODE void* fast_malloc(size_t n) { return take_slot(n); }
CODE void* slow_malloc(size_t n) { return n > 1 ? take_slot(n) : take_slot(1); }
CODE void* fast_realloc(void* old, size_t n) { return old && n <= kSlotBytes ? old : take_slot(n); }
CODE void* slow_realloc(void* old, size_t n) {
  if (!old || n > kSlotBytes) return take_slot(n);
  return old;
}
CODE void fast_free(void* block) {
  if (block) give_slot_back(block);
}
CODE void slow_free(void* block) { give_slot_back(block); }
void* calloc(size_t count, size_t each) { return take_slot(count * each); }

static inline int processor_is_fast(void) {
  unsigned a, b, c, d;
  return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_SSE4_2);
}

#ifdef LEDGER_BY_TABLE /* the code does not show what it may contain */
#define CHOICE(name, result, ...)                                                      \
  static result (*const volatile name##s[])(__VA_ARGS__) = {slow_##name, fast_##name}; \
  __attribute__((used)) static result (*choose_##name(void))(__VA_ARGS__) { return name##s[processor_is_fast() != 0]; }
#else
#define CHOICE(name, result, ...)                                           \
  __attribute__((used)) static result (*choose_##name(void))(__VA_ARGS__) { \
    return processor_is_fast() ? fast_##name : slow_##name;                 \
  }
#endif
CHOICE(malloc, void*, size_t)
CHOICE(realloc, void*, void*, size_t)
CHOICE(free, void, void*)

void* malloc(size_t) __attribute__((ifunc("choose_malloc")));
void* realloc(void*, size_t) __attribute__((ifunc("choose_realloc")));
void free(void*) __attribute__((ifunc("choose_free")));
