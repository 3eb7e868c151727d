# Small allocators, each as unit tests name it: one that has a plan, and what would make that plan wrong.
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

# The block is loaded before a branch at which the size still is where it was passed.
	begin plain
	mov	blocks(%rip), %rax
	test	%rax, %rax
	je	1f
	mov	(%rax), %rdx
	mov	%rdx, blocks(%rip)
	ret
1:	xor	%eax, %eax
	ret
	finish plain

# The size is changed before the branch.
	begin size_changed
	nop
	add	$7, %rdi
	mov	blocks(%rip), %rax
	test	%rax, %rax
	je	1f
	ret
1:	xor	%eax, %eax
	ret
	finish size_changed

# The register with the block is changed behind the branch.
	begin block_changed
	mov	blocks(%rip), %rax
	test	%rax, %rax
	je	1f
	add	$16, %rax
	ret
1:	xor	%eax, %eax
	ret
	finish block_changed

# One path comes to the return by no branch of its own.
	begin avoided
	mov	blocks(%rip), %rax
	ret
	finish avoided

# As plain, but for who jumps behind its branch.
	begin entered
	mov	blocks(%rip), %rax
	test	%rax, %rax
	je	1f
	.globl middle
middle:
	mov	(%rax), %rdx
	ret
1:	xor	%eax, %eax
	ret
	finish entered
	begin intruder
	.byte	0xe9
	.long	middle - . - 4
	finish intruder

# Every call comes by where the size has to be told and by where the result is known: no trap less than by return probes.
	begin asks_first
	push	%rbx
	mov	%rdi, %rbx
	test	%rdi, %rdi
	je	1f
	call	*blocks(%rip)
	mov	blocks(%rip), %rax
	test	%rax, %rax
	je	1f
	pop	%rbx
	ret
1:	xor	%eax, %eax
	pop	%rbx
	ret
	finish asks_first

# Where it goes on is known at run time only.
	begin by_table
	mov	blocks(%rip), %rax
	test	%rax, %rax
	je	1f
	jmp	*%rax
1:	xor	%eax, %eax
	ret
	finish by_table

	.bss
	.p2align 3
blocks:	.quad 0
