# Small allocators that take their blocks from free lists, as unit tests name them: some of which it is certain ahead what
# they will take, and what would make that wrong.
	.text
	.macro begin name, large=3f
	.p2align 4
	.globl \name
	.type \name, @function
\name:
	.cfi_startproc
	mov	thread_lists(%rip), %r8
	test	%r8, %r8
	je	3f
	cmp	$1024, %rdi
	ja	\large
	.endm
# What is left to do for large blocks, or where there is no list; and where there is nothing in it.
	.macro finish name
3:	push	%rbx
	.cfi_adjust_cfa_offset 8
	call	make_block@plt
	nop
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
4:	push	%rbx
	.cfi_adjust_cfa_offset 8
	call	fill_list@plt
	nop
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size \name, . - \name
	.endm

# The parts, each of which can be another one.
	.macro taken name, rounded="add $7, %edi; shr $3, %edi", class="lea classes(%rip), %rdx; movzbl (%rdx,%rdi), %ecx", found="shl $5, %rcx; add %r8, %rcx", loaded="mov (%rcx), %rax", replaced="mov (%rax), %rdx; mov %rdx, (%rcx)"
	begin	\name
	\rounded
	\class
	\found
	\loaded
	test	%rax, %rax
	je	4f
	\replaced
	ret
	finish	\name
	.endm

	taken	plain
	taken	in_one_address, found="nop", loaded="mov 16(%r8,%rcx,8), %rax", replaced="mov (%rax), %rdx; mov %rdx, 16(%r8,%rcx,8)"
	taken	copied, found="mov %r9, %r8; shl $5, %ecx; add %rcx, %r8; add $8, %r8; mov %r8, %rcx"
	taken	moved, found="mov %r9, %rdx; shl $4, %rcx; lea -24(%rdx,%rcx,2), %rcx"
	taken	rounded_apart, rounded="lea 15(%rdi), %eax; shr $4, %eax; mov %eax, %edi"
# The size in a register of its own.
	taken	size_kept, rounded="mov %rdi, %rsi; add $7, %esi; shr $3, %esi; mov %esi, %edi"

# Something else is done in between.
	taken	stores_before, found="mov %rdi, asked(%rip); shl $5, %rcx; add %r8, %rcx"
	taken	pushes_before, found="push %rdi; pop %rdi; shl $5, %rcx; add %r8, %rcx"
	taken	moves_stack_before, found="sub $8, %rsp; add $8, %rsp; shl $5, %rcx; add %r8, %rcx"
	taken	locks_before, found="shl $5, %rcx; add %r8, %rcx; lock incq (%r8)"
	taken	calls_before, found="call other@plt; shl $5, %rcx; add %r8, %rcx"
	taken	far_behind, found="jmp 6f; .skip 5000, 0xcc; 6: shl $5, %rcx; add %r8, %rcx"
	taken	waits_before, found="shl $5, %rcx; add %r8, %rcx; 5: pause; cmpl $0, asked(%rip); jne 5b"
# Nothing shows that the list is the thread's own.
	taken	keeps, replaced="mov (%rax), %rdx"
	taken	stores_elsewhere_first, replaced="mov %rdi, asked(%rip); mov (%rax), %rdx; mov %rdx, (%rcx)"
	taken	stores_beside, replaced="mov (%rax), %rdx; mov %rdx, 8(%rcx)"
	taken	stores_half, replaced="mov (%rax), %edx; mov %edx, (%rcx)"
	taken	exchanges, replaced="mov (%rax), %rdx; xchg %rdx, (%rcx)"
	taken	moves_list_before_store, replaced="mov (%rax), %rdx; add $32, %rcx; mov %rdx, (%rcx)"
# It is another list, or another block, than it seems.
	taken	of_another_base, found="add $8, %r8; shl $5, %rcx; add %r8, %rcx"
	taken	in_segment, loaded="mov %fs:(%rcx), %rax", replaced="mov (%rax), %rdx; mov %rdx, %fs:(%rcx)"
	taken	half_loaded, loaded="mov (%rcx), %eax"
	taken	sixteen_bits, class="lea classes(%rip), %rdx; movzwl (%rdx,%rdi), %ecx"
	taken	signed_class, class="lea classes(%rip), %rdx; movsbl (%rdx,%rdi), %ecx"
	taken	changed_class, class="lea classes(%rip), %rdx; movzbl (%rdx,%rdi), %ecx; add $1, %ecx"
	taken	rounded_in_64_bits, rounded="add $7, %rdi; shr $3, %rdi"
	taken	rounded_twice, rounded="add $7, %edi; shr $3, %edi; add $1, %edi"
	taken	of_another_size, rounded="mov %esi, %edi; add $7, %edi; shr $3, %edi"
	taken	shifted_too_far, found="shl $30, %rcx; add %r8, %rcx"
	taken	block_changed, loaded="mov (%rcx), %rax; add $16, %rax"

	.macro take
	lea	classes(%rip), %rdx
	movzbl	(%rdx,%rdi), %ecx
	shl	$5, %rcx
	add	%r8, %rcx
	mov	(%rcx), %rax
	test	%rax, %rax
	je	4f
	mov	(%rax), %rdx
	mov	%rdx, (%rcx)
	ret
	.endm

# Another path comes by, on which the size is something else.
	begin	entered_beside, large=5f
	add	$7, %edi
6:	shr	$3, %edi
	take
5:	mov	$512, %edi
	jmp	6b
	finish	entered_beside

# Two ways, each with a point of its own.
	begin	two_ways, large=5f
	add	$7, %edi
	shr	$3, %edi
6:	take
5:	cmp	$0x40000, %rdi
	ja	3f
	add	$0x3c7f, %edi
	shr	$7, %edi
	jmp	6b
	finish	two_ways

	.section .note.GNU-stack,"",@progbits
	.bss
classes:
	.zero	4096
thread_lists:
	.zero	8
asked:
	.zero	8
