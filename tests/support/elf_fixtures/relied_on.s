# posix_memalign, which stores what aligned_alloc returns. With FAILS that one refuses alignments before it makes a block, with
# GOES_ON it leaves large blocks to memalign.
	.text
	.macro begin name
	.p2align 4
	.globl \name
	.type \name, @function
\name:
	.cfi_startproc
	.endm
	.macro finish name
	.cfi_endproc
	.size \name, . - \name
	.endm

# The first block of a list, if there is one, from what calls nothing that may allocate.
	.macro take
	mov	blocks(%rip), %rax
	test	%rax, %rax
	je	1f
	mov	(%rax), %rdx
	mov	%rdx, blocks(%rip)
1:
	.endm

	begin memalign
	push	%rbx
	mov	%rsi, %rbx
	take
	pop	%rbx
	ret
	finish memalign

	begin aligned_alloc
	.ifdef GOES_ON
	cmp	$4096, %rsi
	ja	.Lmemalign
	.endif
	push	%rbx
	mov	%rsi, %rbx
	.ifdef FAILS
	test	$8, %dil
	jne	2f
	.endif
	take
	pop	%rbx
	ret
	.ifdef FAILS
2:	xor	%eax, %eax
	pop	%rbx
	ret
	.endif
	finish aligned_alloc
	.set	.Lmemalign, memalign

	begin posix_memalign
	push	%r12
	mov	%rdx, %r12
	push	%rbp
	mov	%rdi, %rbp
	push	%rbx
	mov	%rsi, %rbx
	mov	%r12, %rsi
	mov	%rbx, %rdi
	call	.Laligned_alloc
	mov	%rax, %rdx
	mov	$12, %eax
	test	%rdx, %rdx
	je	1f
	mov	%rdx, (%rbp)
	xor	%eax, %eax
1:	pop	%rbx
	pop	%rbp
	pop	%r12
	ret
	finish posix_memalign
	.set	.Laligned_alloc, aligned_alloc

	.local	blocks
	.comm	blocks, 8, 8

	.section .note.GNU-stack, "", @progbits
