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

# The size is on the stack alone.
	.macro	on_stack name, between, place=8(%rsp)
	begin	\name
	sub	$24, %rsp
	mov	%rdi, \place
	\between
	xor	%edi, %edi
	mov	blocks(%rip), %rax
	test	%rax, %rax
	je	1f
	add	$24, %rsp
	ret
1:	xor	%eax, %eax
	add	$24, %rsp
	ret
	finish	\name
	.endm
	on_stack	size_on_stack, nop
# The address of what pop writes is computed behind the word that it takes; the bit is in the second word.
	on_stack	popped_over, "push $77; pop 8(%rsp)"
	on_stack	bit_set, "mov $66, %ecx; bts %rcx, (%rsp)"
# Who is given the address of the second word may have the first by it, too.
	on_stack	shown_above, "lea 16(%rsp), %rdx; mov %rdx, shown(%rip)"

# Over a call. Only where the word, or one below it, is read afterwards it is none of the call's arguments.
	on_stack	size_is_argument, "call clears", (%rsp)
	on_stack	size_is_read, "call clears; cmp (%rsp), %rax", (%rsp)
	on_stack	size_above_what_is_read, "call clears; cmp (%rsp), %rax"
	.globl	clears
	.hidden	clears
	begin	clears
	xor	%edi, %edi
	ret
	finish	clears

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

# Every call comes by where the size must be reported and by where the result is known: no trap less than by return probes.
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

# With two calls that may allocate, and a branch between them. One that may throw may take two traps.
	begin asks_twice
	push	%rbx
	mov	%rdi, %rbx
	call	*blocks(%rip)
	test	%rax, %rax
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
	finish asks_twice

# Where it goes on is written over its own return address, as in the thunks in place of indirect jumps.
	begin by_thunk
	mov	blocks(%rip), %rax
	test	%rax, %rax
	je	1f
	ret
1:	mov	shown(%rip), %rax
	call	3f
2:	pause
	lfence
	jmp	2b
3:	mov	%rax, (%rsp)
	ret
	finish by_thunk

# It returns to where it goes on.
	begin by_return
	mov	blocks(%rip), %rax
	test	%rax, %rax
	je	1f
	ret
1:	mov	shown(%rip), %rax
	push	%rax
	ret
	finish by_return

# The trap's handler may return.
	begin trapped
	mov	blocks(%rip), %rax
	test	%rax, %rax
	je	1f
	ret
1:	int3
	mov	8+blocks(%rip), %rax
	test	%rax, %rax
	je	2f
	ret
2:	xor	%eax, %eax
	ret
	finish trapped

# Where it goes on is known at run time only.
# As plain, but for another function, which begins where the block has been found.
	begin begun_inside
	mov	blocks(%rip), %rax
	test	%rax, %rax
	je	1f
	.globl	begins_inside
	.type	begins_inside, @function
begins_inside:
	mov	(%rax), %rdx
	ret
1:	xor	%eax, %eax
	ret
	.size	begins_inside, . - begins_inside
	finish begun_inside

# Asks another function, unless there is nothing to ask for: for whole pages, or for as much as it was asked for.
	.macro	goes_on name, rounds, asks
	begin	\name
	test	%rdi, %rdi
	je	1f
	\rounds
	\asks
1:	mov	blocks(%rip), %rax
	test	%rax, %rax
	je	2f
	ret
2:	xor	%eax, %eax
	ret
	finish	\name
	.endm
	goes_on	pages_of_plain, "add $4095, %rdi; and $-4096, %rdi", "jmp plain"
	goes_on	pages_of_aligned, "add $4095, %rdi; and $-4096, %rdi", "mov %rdi, %rsi; mov $4096, %edi; jmp aligned"
	goes_on	passes_on, "", "mov %rdi, %rsi; mov $4096, %edi; jmp aligned"
	begin aligned
	mov	blocks(%rip), %rax
	ret
	finish aligned

	begin by_table
	mov	blocks(%rip), %rax
	test	%rax, %rax
	je	1f
	jmp	*%rax
1:	xor	%eax, %eax
	ret
	finish by_table

# As plain, but for the middle of an instruction elsewhere, which would be a jump behind its branch.
	begin seemingly_entered
	mov	blocks(%rip), %rax
	test	%rax, %rax
	je	1f
	.globl other_middle
other_middle:
	mov	(%rax), %rdx
	ret
1:	xor	%eax, %eax
	ret
	finish seemingly_entered
	begin holds_a_number
	.byte	0x48, 0xb8, 0xe9		# mov $..., %rax
	.long	other_middle - . - 4
	.byte	0, 0, 0
	ret
	finish holds_a_number

# The block is cleared by a function that returns it.
	begin clears_last
	mov	blocks(%rip), %rax
	test	%rax, %rax
	je	1f
	mov	%rdi, %rdx
	xor	%esi, %esi
	mov	%rax, %rdi
	jmp	memset@plt
1:	xor	%eax, %eax
	ret
	finish clears_last
	begin clears_before
	push	%rbx
	mov	blocks(%rip), %rax
	test	%rax, %rax
	je	1f
	mov	%rdi, %rdx
	xor	%esi, %esi
	mov	%rax, %rdi
	call	memset@plt
	pop	%rbx
	ret
1:	xor	%eax, %eax
	pop	%rbx
	ret
	finish clears_before

# What is called where a block is damaged: it ends the program, by another function's calls; and what does not, or not on every
# path.
	.macro local name
	.p2align 4
	.type \name, @function
\name:
	.cfi_startproc
	.endm
	local reports
	sub	$8, %rsp
	call	abort@plt
	finish reports
	local ends
	sub	$8, %rsp
	test	%edi, %edi
	je	1f
	call	reports
1:	call	_exit@plt
	finish ends
	local may_return
	sub	$8, %rsp
	test	%edi, %edi
	jne	1f
	call	reports
1:	add	$8, %rsp
	ret
	finish may_return
	local throws
	sub	$8, %rsp
	test	%edi, %edi
	jne	1f
	call	reports
1:	call	__cxa_throw@plt
	finish throws
	local exits
	sub	$8, %rsp
	call	exit@plt
	finish exits
	local asks_elsewhere
	jmp	elsewhere@plt
	finish asks_elsewhere

# Behind the branch the block is looked at, and something is called if it is damaged.
	.macro looks_at_block name, damaged
	begin \name
	mov	blocks(%rip), %rax
	test	%rax, %rax
	je	1f
	mov	-8(%rax), %rdx
	test	$2, %dl
	jne	2f
	ret
1:	xor	%eax, %eax
	ret
2:	mov	$1, %edi
	call	\damaged
	finish \name
	.endm
	looks_at_block ends_if_damaged, ends
	looks_at_block returns_if_damaged, may_return
	looks_at_block throws_if_damaged, throws
	looks_at_block exits_if_damaged, exits
	looks_at_block unknown_if_damaged, asks_elsewhere

# The same, by a branch out of the function.
	begin jumps_if_damaged
	mov	blocks(%rip), %rax
	test	%rax, %rax
	je	1f
	testb	$2, -8(%rax)
	jne	ends
	ret
1:	xor	%eax, %eax
	ret
	finish jumps_if_damaged

# What is found to be 0 is not what is returned, or is changed before the branch, or may not have been looked at.
	begin other_is_zero
	mov	blocks(%rip), %rax
	mov	8+blocks(%rip), %rdx
	test	%rdx, %rdx
	je	1f
	ret
1:	xor	%eax, %eax
	ret
	finish other_is_zero
	begin half_is_zero
	mov	blocks(%rip), %rax
	test	%eax, %eax
	je	1f
	ret
1:	xor	%eax, %eax
	ret
	finish half_is_zero
	begin zero_on_one_path
	mov	blocks(%rip), %rax
	cmp	$64, %rdi
	je	2f
	test	%rax, %rax
2:	je	1f
	ret
1:	xor	%eax, %eax
	ret
	finish zero_on_one_path
	begin not_zero
	mov	blocks(%rip), %rax
	test	%rax, %rax
	jne	1f
	ret
1:	xor	%eax, %eax
	ret
	finish not_zero

# An exception leads past the branch, to another block.
	begin catches
	.cfi_personality 0x1b, personality_routine
	.cfi_lsda 0x1b, catches_table
	push	%rbx
	mov	%rdi, %rbx
	nop
	call	*blocks(%rip)
	.globl returns_from_call
	.hidden	returns_from_call	# inside, and not to be called
	.type returns_from_call, @function
returns_from_call:
	test	%rax, %rax
	je	1f
	pop	%rbx
	ret
1:	xor	%eax, %eax
	pop	%rbx
	ret
	.globl handler
	.hidden	handler		# the same
	.type handler, @function
handler:
	mov	8+blocks(%rip), %rax
	test	%rax, %rax
	je	1b
	pop	%rbx
	ret
	finish catches
	.hidden personality_routine
	begin personality_routine
	ret
	finish personality_routine
	.section .gcc_except_table, "a", @progbits
catches_table:
	.byte	0xff, 0xff, 1
	.uleb128 3f - 2f
2:	.uleb128 returns_from_call - 6 - catches
	.uleb128 6
	.uleb128 handler - catches
	.uleb128 1
3:	.text

	.bss
	.p2align 3
blocks:	.quad 0
shown:	.quad 0
