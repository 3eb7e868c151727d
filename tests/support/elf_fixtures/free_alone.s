# A free that is probed behind its push, unless ANOTHER one begins there by a name that only .symtab has. Never run.
    .text
    .macro function name
    .type \name, @function
    .p2align 4
\name:
    .endm
    .macro done name
    .size \name, . - \name
    .endm

    .globl malloc
    function malloc
    push %rbx
    pop %rbx
    ret
    done malloc

    .globl free
    function free
    test %rdi, %rdi
    je 1f
    push %rbx
.ifdef ANOTHER
    .type cfree, @function
cfree:
    .size cfree, 16
.endif
    mov -8(%rdi), %rax
    test $2, %al
    je 2f
    xor %edx, %edx
2:  pop %rbx
1:  ret
    done free
    .section .note.GNU-stack,"",@progbits
