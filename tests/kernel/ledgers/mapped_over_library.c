/* Code that is mapped by hand; two libraries are made of it, whose frames (LEDGER_FRAME_WORDS, up to 31, odd) have
 * other sizes and whose code has the same shape. The frame is full of the third argument. Its entry point is the
 * function void (function callee, size_t n, uintptr_t decoy). */
#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

__asm__(
    ".text\n"
    ".globl through_mapped_code\n"
    ".type through_mapped_code, @function\n"
    "through_mapped_code:\n"
    "  .cfi_startproc\n"
    "  .rept " TEXT(LEDGER_FRAME_WORDS) "\n"
    "  push %rdx\n"
    "  .cfi_adjust_cfa_offset 8\n"
    "  .endr\n"
    "  .rept 31 - " TEXT(LEDGER_FRAME_WORDS) "\n"
    "  nop\n"
    "  .endr\n"
    "  mov %rdi, %rax\n"
    "  mov %rsi, %rdi\n"
    "  call *%rax\n"
    "  .rept " TEXT(LEDGER_FRAME_WORDS) "\n"
    "  pop %rdx\n"
    "  .cfi_adjust_cfa_offset -8\n"
    "  .endr\n"
    "  ret\n"
    "  .cfi_endproc\n"
    ".size through_mapped_code, . - through_mapped_code\n");
