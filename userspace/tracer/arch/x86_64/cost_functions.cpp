#include "userspace/tracer/cost_functions.h"

asm(R"(
  .pushsection .text
  .globl hawk_pushing_function
  .hidden hawk_pushing_function
  .type hawk_pushing_function, @function
hawk_pushing_function:
  push %rbx
  pop %rbx
  ret
  .size hawk_pushing_function, . - hawk_pushing_function
  .globl hawk_moving_function
  .hidden hawk_moving_function
  .type hawk_moving_function, @function
hawk_moving_function:
  mov %rdi, %rax
  ret
  .size hawk_moving_function, . - hawk_moving_function
  .globl hawk_returning_function
  .hidden hawk_returning_function
  .type hawk_returning_function, @function
hawk_returning_function:
  push %rbx
  pop %rbx
  ret
  .size hawk_returning_function, . - hawk_returning_function
  .popsection
)");
