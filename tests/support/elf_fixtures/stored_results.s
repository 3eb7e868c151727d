# Functions as posix_memalign(result *, alignment, size): one whose block is made by one call, and what would make a plan wrong that
# takes what that call returns for the result.
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

# The arguments where calls leave them alone, and a test of the alignment. \made is called as f(alignment, size).
	.macro ask_for_block made=make_block
	push	%r12
	mov	%rdx, %r12
	push	%rbp
	mov	%rdi, %rbp
	push	%rbx
	mov	%rsi, %rbx
	test	$7, %bl
	jne	8f
	mov	%r12, %rsi
	mov	%rbx, %rdi
	call	\made
	.endm
	.macro leave
	pop	%rbx
	pop	%rbp
	pop	%r12
	ret
	.endm
	.macro refuse
8:	pop	%rbx
	mov	$22, %eax
	pop	%rbp
	pop	%r12
	ret
	.endm

# Through the PLT to code that may be any.
	begin make_block
	push	%rbx
	mov	%rsi, %rbx
	call	refill@PLT
	test	%rax, %rax
	je	1f
	mov	(%rax), %rdx
1:	pop	%rbx
	ret
	finish make_block

	begin stores
	ask_for_block
	mov	%rax, %rdx
	mov	$12, %eax
	test	%rdx, %rdx
	je	1f
	mov	%rdx, (%rbp)
	xor	%eax, %eax
1:	leave
	refuse
	finish stores

# Not the whole block.
	begin stores_half
	ask_for_block
	mov	%rax, %rdx
	mov	$12, %eax
	test	%rdx, %rdx
	je	1f
	mov	%edx, (%rbp)
	xor	%eax, %eax
1:	leave
	refuse
	finish stores_half

# Somewhere else.
	begin stores_elsewhere
	ask_for_block
	mov	%rax, %rdx
	mov	$12, %eax
	test	%rdx, %rdx
	je	1f
	mov	%rdx, 8(%rbp)
	xor	%eax, %eax
1:	leave
	refuse
	finish stores_elsewhere

# A part of the block.
	begin stores_inside
	ask_for_block
	mov	%rax, %rdx
	mov	$12, %eax
	test	%rdx, %rdx
	je	1f
	add	$16, %rdx
	mov	%rdx, (%rbp)
	xor	%eax, %eax
1:	leave
	refuse
	finish stores_inside

# The block is kept, and the program told that there is none.
	begin fails_with_block
	ask_for_block
	mov	%rax, %rdx
	test	%rdx, %rdx
	je	1f
	mov	%rdx, (%rbp)
1:	mov	$12, %eax
	leave
	refuse
	finish fails_with_block

# The program is told that there is one where none is stored.
	begin succeeds_without_block
	ask_for_block
	mov	%rax, %rdx
	test	%rdx, %rdx
	jne	1f
	mov	%rdx, (%rbp)
1:	xor	%eax, %eax
	leave
	refuse
	finish succeeds_without_block

# What decides is not the whole result.
	begin tests_half
	ask_for_block
	mov	%rax, %rdx
	mov	$12, %eax
	test	%edx, %edx
	je	1f
	mov	%rdx, (%rbp)
	xor	%eax, %eax
1:	leave
	refuse
	finish tests_half

# Another block is made, which may be the one that is stored.
	begin asks_again
	ask_for_block
	test	%rax, %rax
	jne	1f
	mov	%r12, %rsi
	mov	%rbx, %rdi
	call	make_block
1:	mov	%rax, %rdx
	mov	$12, %eax
	test	%rdx, %rdx
	je	2f
	mov	%rdx, (%rbp)
	xor	%eax, %eax
2:	leave
	refuse
	finish asks_again

# It goes back until there is one.
	begin insists
	push	%r12
	mov	%rdx, %r12
	push	%rbp
	mov	%rdi, %rbp
	push	%rbx
	mov	%rsi, %rbx
1:	mov	%r12, %rsi
	mov	%rbx, %rdi
	call	make_block
	test	%rax, %rax
	je	1b
	mov	%rax, (%rbp)
	xor	%eax, %eax
	leave
	finish insists

# The program gets more than it has asked for.
	begin asks_for_more
	push	%r12
	mov	%rdx, %r12
	push	%rbp
	mov	%rdi, %rbp
	push	%rbx
	mov	%rsi, %rbx
	lea	16(%r12), %rsi
	mov	%rbx, %rdi
	call	make_block
	mov	%rax, %rdx
	mov	$12, %eax
	test	%rdx, %rdx
	je	1f
	mov	%rdx, (%rbp)
	xor	%eax, %eax
1:	leave
	finish asks_for_more

# Paths that do not come by the call return where the others do.
	begin shares_its_return
	ask_for_block
	mov	%rax, %rdx
	mov	$12, %eax
	test	%rdx, %rdx
	je	1f
	mov	%rdx, (%rbp)
	xor	%eax, %eax
1:	leave
8:	mov	$22, %eax
	jmp	1b
	finish shares_its_return

# Behind the call anything may happen.
	begin calls_behind
	ask_for_block
	test	%rax, %rax
	je	1f
	mov	%rax, (%rbp)
	call	refill@PLT
	xor	%eax, %eax
	leave
1:	mov	$12, %eax
	leave
	refuse
	finish calls_behind

# What makes the block has no plan: other code jumps into it.
	begin make_block_entered
	push	%rbx
	call	refill@PLT
9:	test	%rax, %rax
	je	1f
	mov	(%rax), %rdx
1:	pop	%rbx
	ret
	finish make_block_entered

	begin enters
	push	%rbx
	jmp	9b
	finish enters

	begin stores_what_is_entered
	ask_for_block make_block_entered
	mov	%rax, %rdx
	mov	$12, %eax
	test	%rdx, %rdx
	je	1f
	mov	%rdx, (%rbp)
	xor	%eax, %eax
1:	leave
	refuse
	finish stores_what_is_entered

	.section .note.GNU-stack, "", @progbits
