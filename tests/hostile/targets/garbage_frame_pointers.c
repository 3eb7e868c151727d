/* Calls the allocator with rbp at addresses of the kernel, not canonical ones, the stack itself, the last page, and
 * garbage: wherever the walk follows it, the numbers stay right. */
#include "hostile.h"

SITE_FUNCTION void* call_with_rbp(uint64_t rbp, size_t n) {
  void* result;
  __asm__ volatile(
      "pushq %%rbp\n\t"
      "subq $8, %%rsp\n\t"
      "movq %1, %%rbp\n\t"
      "call *%2\n\t"
      "addq $8, %%rsp\n\t"
      "popq %%rbp"
      : "=a"(result), "+b"(rbp)
      : "r"(malloc), "D"(n)
      : "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc");
  return result;
}

SITE_FUNCTION struct block odd_call(uint64_t rbp, size_t n) { return ALLOCATED(call_with_rbp(rbp, n), n); }

int main(void) {
  uint64_t loop[2];
  loop[0] = (uintptr_t)loop;
  loop[1] = (uintptr_t)main + 1;
  const uint64_t garbage[] = {0,
                              1,
                              7,
                              UINT64_MAX,
                              UINT64_MAX - 7,
                              0xffffffff81000000,
                              0xffff888000000000,
                              0x0000800000000000,
                              0x00007ffffffff000,
                              0x00007fffffffeff8,
                              0xdeadbeefdeadbeef,
                              0x8000000000000000,
                              0xffffffffff600000,
                              (uintptr_t)loop,
                              (uintptr_t)loop + 3,
                              (uintptr_t)main};
  ledger_begin();
  for (size_t i = 0; i < 2000; i++) {
    struct block block = odd_call(garbage[i % (sizeof(garbage) / sizeof(garbage[0]))], i + 1);
    if (i % 2) release(block);
  }
  ledger_end();
  return 0;
}
