/* A static program without libc, and so without any allocator. Built for 64 and for 32 bits, and with the note that
 * Go's linker leaves. Waits for a byte on its standard input, and ends. */
#ifdef __x86_64__
#define WAIT_AND_END                                                            \
  "xor %eax, %eax\n xor %edi, %edi\n mov %rsp, %rsi\n mov $1, %edx\n syscall\n" \
  "mov $60, %eax\n xor %edi, %edi\n syscall\n"
#define SAY_READY "mov $1, %eax\n mov $1, %edi\n lea ready(%rip), %rsi\n mov $6, %edx\n syscall\n"
#else
#define WAIT_AND_END                                                            \
  "mov $3, %eax\n xor %ebx, %ebx\n mov %esp, %ecx\n mov $1, %edx\n int $0x80\n" \
  "mov $1, %eax\n xor %ebx, %ebx\n int $0x80\n"
#define SAY_READY "mov $4, %eax\n mov $1, %ebx\n mov $ready, %ecx\n mov $6, %edx\n int $0x80\n"
#endif
__asm__(".globl _start\n _start:\n" SAY_READY WAIT_AND_END ".data\n ready: .ascii \"ready\\n\"\n");
#ifdef GO
__asm__(".section .note.go.buildid,\"a\",@note\n .long 4, 8, 4\n .ascii \"Go\\0\\0\"\n .ascii \"build-id\"\n");
#endif
