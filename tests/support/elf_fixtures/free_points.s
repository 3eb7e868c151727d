# Functions that free: one for each rule of where the probe may lie behind the first push. Nothing here is ever run.
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
    # As glibc's begins: +3 the test's branch, +9 a push, then a frame of five words. A near branch, however near.
    .macro null_test to
    test %rdi, %rdi
    .byte 0x0f, 0x84
    .long \to - . - 4
    .endm
    .macro frame
    push %rbp                           # +9
    lea -0x10(%rdi), %rsi
    push %rbx                           # +14
    sub $0x18, %rsp
    .endm
    .macro leave_frame
    add $0x18, %rsp
    pop %rbx
    pop %rbp
    .endm

    function as_glibc
    null_test 2f
    frame
    mov errno_slot(%rip), %rbx          # +19
    mov -8(%rdi), %rax                  # +26
    mov %fs:(%rbx), %ebp                # +30
    test $2, %al                        # +33
    jne 1f                              # +35
    xor %edx, %edx
1:  leave_frame
2:  ret
    done as_glibc

    # Without the null test: calls with null run into the branch, as they would have into the push.
    function pushes_first
    push %r12
    mov %rdi, %rax
    test %rdi, %rdi                     # +5
    je 1f                               # +8
    mov %rax, (%rdi)
1:  pop %r12
    ret
    done pushes_first

    # rbp unchanged.
    function keeps_rbp
    push %rbx
    cmpl $0, -8(%rdi)                   # +1
    je 1f                               # +5
    mov %rax, (%rdi)
1:  pop %rbx
    ret
    done keeps_rbp

    # A frame pointer, and what is spilled to the frame.
    function spills
    push %rbp
    mov %rsp, %rbp                      # +1
    sub $0x20, %rsp                     # +4
    mov %rdi, -8(%rbp)                  # +8
    mov %rsi, 8(%rsp)                   # +12
    mov %rsi, -0x10(%rsp)               # +17, in the red zone
    test %rsi, %rsi                     # +22
    je 1f                               # +25
    mov %rax, (%rdi)
1:  leave
    ret
    done spills

    # rbp is saved by a move.
    function moves_rbp_to_frame
    sub $0x18, %rsp
    mov %rbp, 8(%rsp)                   # +4
    mov %rdi, %rbp                      # +9
    push %rbx                           # +12
    test %rsi, %rsi                     # +13
    je 1f                               # +16
    mov %rax, (%rdi)
1:  pop %rbx
    mov 8(%rsp), %rbp
    add $0x18, %rsp
    ret
    done moves_rbp_to_frame

    # No branch: the push is better than what would be single-stepped.
    function only_a_push
    sub $8, %rsp
    push %rbx                           # +4
    mov %rax, (%rdi)
    pop %rbx
    add $8, %rsp
    ret
    done only_a_push

    # The block moves on.
    function argument_moves
    push %rbx
    mov %rdi, %rbx
    xor %edi, %edi
    test %rsi, %rsi
    je 1f                               # +9
    mov %rax, (%rbx)
1:  pop %rbx
    ret
    done argument_moves

    # A cheaper one that only a call would lead to: the kernel's emulation leaves the shadow stack behind.
    function only_a_call
    sub $8, %rsp
    call something
    add $8, %rsp
    ret
    done only_a_call

# What must be refused, each by one change of as_glibc.

    .macro mutant name, change:vararg
    function \name
    null_test 2f
    frame
    \change
    test $2, %al
    jne 1f
    xor %edx, %edx
1:  leave_frame
2:  ret
    done \name
    .endm

    mutant stores_to_block, mov %rax, (%rdi)
    mutant stores_elsewhere, mov %rax, some_word(%rip)
    mutant stores_through_another_register, mov %rax, -8(%rbx)
    mutant stores_to_thread, mov %rax, %fs:0
    mutant stores_to_thread_by_rsp, mov %rax, %fs:(%rsp)
    mutant stores_to_return_address, mov %rax, 0x28(%rsp)
    mutant stores_to_callers_frame, mov %rax, 0x30(%rsp)
    mutant stores_over_saved_rbp, mov %rax, 0x20(%rsp)
    mutant stores_partly_over_saved_rbp, movl %eax, 0x24(%rsp)
    mutant stores_by_index, mov %rax, (%rsp, %rax, 8)
    mutant adds_to_frame, addq $1, (%rsp)
    mutant exchanges, xchg %rax, (%rsp)
    mutant exchanges_with_block, xchg %rax, (%rdi)
    mutant adds_with_lock, lock addq $1, (%rsp)
    mutant calls, call something
    mutant calls_indirectly, call *some_word(%rip)
    mutant system_call, syscall
    mutant copies_string, movsb
    mutant loses_block, xor %edi, %edi
    mutant loses_part_of_block, mov $1, %dil
    mutant aligns_stack, and $-64, %rsp
    mutant makes_room_by_register, sub %rax, %rsp
    mutant makes_odd_room, sub $4, %rsp
    mutant makes_too_much_room, sub $0x10000, %rsp
    mutant is_too_far, .fill 130, 1, 0x98
    mutant pops, pop %rax
    mutant leaves, leave
    mutant pushes_flags, pushfq
    mutant reads_time, rdtsc
    mutant traps, int3

    # rbp lost: it has never been saved.
    function loses_rbp
    push %rbx
    mov %rsi, %rbp
    test $2, %al
    jne 1f
    xor %edx, %edx
1:  pop %rbx
    ret
    done loses_rbp

    # Saved after it was changed.
    function saves_changed_rbp
    push %rbx
    mov %rsi, %rbp
    push %rbp
    test $2, %al
    jne 1f
    xor %edx, %edx
1:  pop %rbp
    pop %rbx
    ret
    done saves_changed_rbp

    # A loop of its own leads back.
    function loops
    null_test 2f
    push %rbx                           # +9
0:  mov (%rdi), %rax
    test $2, %al
    jne 1f
    xor %edx, %edx
    jmp 0b
1:  pop %rbx
2:  ret
    done loops

    # The part that jumps back lies elsewhere.
    function loops_from_cold_part
    null_test 2f
    push %rbx                           # +9
0:  mov (%rdi), %rax
    test $2, %al
    jne 1f
    pop %rbx
2:  ret
1:  jmp cold_part
    done loops_from_cold_part
    .p2align 4
cold_part:
    inc %rdx
    jmp 0b

    # That part's ways are not known, or it calls back.
    function cold_part_goes_anywhere
    null_test 2f
    push %rbx                           # +9
    mov (%rdi), %rax
    test $2, %al
    jne 1f
    pop %rbx
2:  ret
1:  jmp lost_part
    done cold_part_goes_anywhere
    .p2align 4
lost_part:
    jmp *%rax

    function called_from_cold_part
    null_test 2f
    push %rbx                           # +9
    mov (%rdi), %rax
0:  test $2, %al
    jne 1f
    pop %rbx
2:  ret
1:  jmp calling_part
    done called_from_cold_part
    .p2align 4
calling_part:
    .cfi_startproc
    call 0b
    pop %rbx
    ret
    .cfi_endproc

    # Where an exception of its call is handled.
    function handles_exceptions_inside
    .cfi_personality 0x1b, personality_routine
    .cfi_lsda 0x1b, handlers
    null_test 2f
    push %rbx                           # +9
    mov (%rdi), %rax
handler_inside:
    test $2, %al
    jne 1f
    call something
returns_from_call:
1:  pop %rbx
2:  ret
    done handles_exceptions_inside
    .hidden personality_routine
    function personality_routine
    ret
    done personality_routine

    # Another way leads around it.
    function is_bypassed
    null_test 2f
    push %rbx                           # +9
    jrcxz 1f
    mov (%rdi), %rax
    test $2, %al
    jne 1f
    xor %edx, %edx
1:  pop %rbx
2:  ret
    done is_bypassed

    # Code that the function itself never runs jumps in.
    function entered_from_dead_code
    null_test 2f
    push %rbx                           # +9
    mov (%rdi), %rax
0:  test $2, %al
    jne 1f
    xor %edx, %edx
1:  pop %rbx
2:  ret
    jmp 0b
    done entered_from_dead_code

    function calls_itself_inside
    null_test 2f
    push %rbx                           # +9
    mov (%rdi), %rax
0:  test $2, %al
    jne 1f
    call 0b
1:  pop %rbx
2:  ret
    done calls_itself_inside

    # Another function does, far away.
    function entered_by_other
    null_test 2f
    push %rbx                           # +9
    mov (%rdi), %rax
entered_by_other_middle:
    test $2, %al
    jne 1f
    xor %edx, %edx
1:  pop %rbx
2:  ret
    done entered_by_other

    # By a short jump.
    function entered_from_near_by
    null_test 2f
    push %rbx                           # +9
    mov (%rdi), %rax
0:  test $2, %al
    jne 1f
    xor %edx, %edx
1:  pop %rbx
2:  ret
    done entered_from_near_by
    function near_by
    push %rbx
    jmp 0b
    done near_by

    # A function of its own begins there, and calls of that are none of this one.
    function has_another_inside
    null_test 2f
    push %rbx                           # +9
    mov (%rdi), %rax
    .globl begins_inside
    .type begins_inside, @function
begins_inside:
    test $2, %al
    jne 1f
    xor %edx, %edx
1:  pop %rbx
2:  ret
    .size begins_inside, . - begins_inside
    done has_another_inside

    # Where it goes cannot be followed.
    function goes_anywhere
    null_test 2f
    push %rbx                           # +9
    mov (%rdi), %rax
    test $2, %al
    jne 1f
    jmp *%rax
1:  pop %rbx
2:  ret
    done goes_anywhere

    # Its end is not known.
    .globl has_no_size
    .type has_no_size, @function
    .p2align 4
has_no_size:
    null_test 2f
    push %rbx                           # +9
    mov (%rdi), %rax
    test $2, %al
    jne 1f
    xor %edx, %edx
1:  pop %rbx
2:  ret

    function something
    ret
    done something
    .fill 512, 1, 0x90
    function other
    push %rbx
    jmp entered_by_other_middle
    done other

    .ifdef RSEQ
    ud1 0x53053053(%rip), %edi          # the signature before an abort handler
    .endif

    .section .gcc_except_table, "a", @progbits
handlers:
    .byte 0xff, 0xff, 1
    .uleb128 1f - 0f
0:  .uleb128 returns_from_call - 5 - handles_exceptions_inside
    .uleb128 5
    .uleb128 handler_inside - handles_exceptions_inside
    .uleb128 1
1:

    .data
errno_slot:
    .quad 0
some_word:
    .quad 0
    .section .note.GNU-stack,"",@progbits
