# Allocating functions that jump back to their own first instruction, as compilers have them for `while (size & 15) size++`
# when they optimize for size. Never run.
    .text
    .macro function name
    .globl \name
    .type \name, @function
    .p2align 4
\name:
    .cfi_startproc
    .endm
    .macro done name
    .cfi_endproc
    .size \name, . - \name
    .endm

# `to`: how the first instruction is named there.
    .macro allocating name, to
    function \name
    test $15, %dil
    je 2f
    inc %rdi
    jmp \to
2:  mov blocks(%rip), %rax
    test %rax, %rax
    je 1f
    ret
1:  xor %eax, %eax
    ret
    done \name
    .endm

    .macro freeing name, to
    function \name
    test $255, %dil
    je 1f
    sub $16, %rdi
    jmp \to
1:  mov %rdi, blocks(%rip)
    ret
    done \name
    .endm

    .hidden own_malloc, own_free
own_malloc:
    allocating malloc, own_malloc
    allocating valloc, valloc@plt       # by a name that another file may define as well
    allocating _Znwm, _Znwm@plt
own_free:
    freeing free, own_free
    freeing _ZdlPv, elsewhere           # over another function
    function elsewhere
    jmp _ZdlPv@plt
    done elsewhere

    function aligned_alloc              # none of them: it calls itself
    test $15, %sil
    je 2f
    inc %rsi
    sub $8, %rsp
    call aligned_alloc@plt
    add $8, %rsp
    ret
2:  mov blocks(%rip), %rax
    test %rax, %rax
    je 1f
    ret
1:  xor %eax, %eax
    ret
    done aligned_alloc

    .bss
    .local blocks
    .comm blocks, 8, 8
    .section .note.GNU-stack,"",@progbits
