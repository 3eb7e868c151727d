# Functions as malloc(size) that have blocks made by another one, cut(arena, size), once their cache is empty, and forget the size when they
# call it; and what would make a plan wrong that takes what that one returns for the result.
	.text
	.macro begin name
	.p2align 4
	.globl \name
	.hidden \name
	.type \name, @function
\name:
	.cfi_startproc
	.endm
	.macro finish name
	.cfi_endproc
	.size \name, . - \name
	.endm

# As much as glibc's: with a branch behind which the block is filled, if the program has asked for that.
	.macro cut_block
	push	%rbx
	mov	%rsi, %rbx
	mov	(%rdi), %rax
	test	%rax, %rax
	je	1f
	cmpb	$0, filling(%rip)
	jne	2f
1:	pop	%rbx
	ret
2:	mov	%rbx, (%rax)
	pop	%rbx
	ret
	.endm

	begin cut
	cut_block
	finish cut

# Through the PLT to code that may be any.
	begin cut_by_others
	push	%rbx
	mov	%rsi, %rbx
	call	refill@PLT
	test	%rax, %rax
	je	1f
	mov	(%rax), %rdx
1:	pop	%rbx
	ret
	finish cut_by_others

	begin cut_entered
	push	%rbx
9:	mov	%rsi, %rbx
	mov	(%rdi), %rax
	test	%rax, %rax
	je	1f
	cmpb	$0, filling(%rip)
	jne	1f
1:	pop	%rbx
	ret
	finish cut_entered

	begin enters_cut
	push	%rbx
	jmp	9b
	finish enters_cut

# The cache, and the call.
	.macro ask_for_block made=cut
	push	%rbx
	mov	%rdi, %rbx
	mov	cached(%rip), %rax
	test	%rax, %rax
	jne	8f
	mov	%rbx, %rsi
	lea	arena(%rip), %rbx
	mov	%rbx, %rdi
	call	\made
	.endm
	.macro leave
	pop	%rbx
	ret
8:	pop	%rbx
	ret
	.endm

	begin returns_it
	ask_for_block
	test	%rax, %rax
	je	1f
	cmp	%rbx, (%rax)
	jne	2f
1:	leave
2:	call	abort@PLT
	finish returns_it

# From another arena, if the first has none.
	begin asks_again
	push	%rbx
	mov	%rdi, %rbx
	mov	cached(%rip), %rax
	test	%rax, %rax
	jne	8f
	sub	$16, %rsp
	mov	%rbx, %rsi
	mov	%rbx, 8(%rsp)
	lea	arena(%rip), %rbx
	mov	%rbx, %rdi
	call	cut
	test	%rax, %rax
	jne	1f
	mov	8(%rsp), %rsi
	lea	other_arena(%rip), %rdi
	call	cut
1:	add	$16, %rsp
	leave
	finish asks_again

# Keeps what it was asked for where calls leave it alone: it is seen by one point of its own.
	begin keeps_size
	push	%rbx
	mov	%rdi, %rbx
	mov	%rbx, %rsi
	lea	arena(%rip), %rdi
	call	cut
	test	%rax, %rax
	je	1f
	mov	(%rax), %rdx
1:	pop	%rbx
	ret
	finish keeps_size

	begin asks_for_more
	push	%rbx
	mov	cached(%rip), %rax
	test	%rax, %rax
	jne	8f
	lea	16(%rdi), %rsi
	lea	arena(%rip), %rdi
	call	cut
	leave
	finish asks_for_more

# A part of the block.
	begin returns_inside
	ask_for_block
	test	%rax, %rax
	je	1f
	add	$16, %rax
1:	leave
	finish returns_inside

# The block is kept.
	begin returns_null
	ask_for_block
	xor	%eax, %eax
	leave
	finish returns_null

# A block that the other has not made.
	begin returns_its_own
	ask_for_block
	test	%rax, %rax
	jne	1f
	mov	other_arena(%rip), %rax
1:	leave
	finish returns_its_own

# And throws the first away.
	begin asks_twice
	ask_for_block
	mov	%rdi, %rsi
	lea	arena(%rip), %rdi
	call	cut
	leave
	finish asks_twice

	begin calls_behind
	ask_for_block
	mov	%rax, %rbx
	call	refill@PLT
	mov	%rbx, %rax
	leave
	finish calls_behind

# Which is as if it had never been made.
	begin throws
	test	%rdi, %rdi
	je	1f
	ret
1:	call	__cxa_rethrow@PLT
	finish throws

	begin throws_behind
	ask_for_block
	mov	%rax, %rbx
	test	%rax, %rax
	je	1f
	call	throws
1:	mov	%rbx, %rax
	leave
	finish throws_behind

# In another file.
	begin goes_on_if_null
	push	%rbx
	mov	%rdi, %rbx
	mov	cached(%rip), %rax
	test	%rax, %rax
	jne	8f
	mov	%rbx, %rsi
	lea	arena(%rip), %rbx
	mov	%rbx, %rdi
	call	cut
	pop	%rbx
	test	%rax, %rax
	jne	1f
	test	%rdi, %rdi
	jne	refill@PLT
1:	ret
8:	pop	%rbx
	ret
	finish goes_on_if_null

# The block's address is changed where it is kept, through another one.
	begin changes_what_it_keeps
	ask_for_block
	test	%rax, %rax
	je	1f
	push	%rsp
	pop	%rcx
	push	%rax
	addq	$16, -8(%rcx)
	pop	%rax
1:	leave
	finish changes_what_it_keeps

	begin calls_before
	push	%rbx
	mov	%rdi, %rbx
	mov	cached(%rip), %rax
	test	%rax, %rax
	jne	8f
	call	refill@PLT
	mov	%rbx, %rsi
	lea	arena(%rip), %rbx
	mov	%rbx, %rdi
	call	cut
	leave
	finish calls_before

	begin loops_behind
	ask_for_block
	test	%rax, %rax
	je	1f
2:	cmp	%rbx, (%rax)
	jne	2b
1:	leave
	finish loops_behind

# Back to where the cache's blocks are seen.
	begin goes_back
	push	%rbx
	mov	%rdi, %rbx
	mov	cached(%rip), %rax
7:	test	%rax, %rax
	jne	8f
	mov	%rbx, %rsi
	lea	arena(%rip), %rbx
	mov	%rbx, %rdi
	call	cut
	jmp	7b
8:	pop	%rbx
	ret
	finish goes_back

	begin asks_others
	ask_for_block cut_by_others
	leave
	finish asks_others

	begin asks_what_is_entered
	ask_for_block cut_entered
	leave
	finish asks_what_is_entered

	.bss
	.p2align 3
cached:	.quad	0
arena:	.quad	0
other_arena:
	.quad	0
filling:
	.byte	0

	.section .note.GNU-stack, "", @progbits
