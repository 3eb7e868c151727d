/* Runs a function on a stack that the caller provides. */
#ifndef HAWKTRACE_ON_STACK_H
#define HAWKTRACE_ON_STACK_H

/* Calls `function` with the stack pointer at `top`, which is 16-byte aligned, and comes back. rbx keeps the old stack.
 */
static void __attribute__((noinline, noipa, unused)) on_stack(void* top, void (*function)(void)) {
  __asm__ volatile(
      "movq %%rsp, %%rbx\n\t"
      "movq %0, %%rsp\n\t"
      "call *%1\n\t"
      "movq %%rbx, %%rsp"
      :
      : "r"(top), "r"(function)
      : "rbx", "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc");
}

#endif
