/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Numbers of system calls, and flags of their arguments. Those that change mappings, or begin a program. */
#ifndef HAWKTRACE_ARCH_X86_64_SYSTEM_CALLS_H
#define HAWKTRACE_ARCH_X86_64_SYSTEM_CALLS_H

#define HAWK_SYSCALL_MMAP 9
#define HAWK_SYSCALL_MPROTECT 10
#define HAWK_SYSCALL_MUNMAP 11
#define HAWK_SYSCALL_BRK 12
#define HAWK_SYSCALL_MREMAP 25
#define HAWK_SYSCALL_MADVISE 28
#define HAWK_SYSCALL_SHMAT 30
#define HAWK_SYSCALL_CLONE 56
#define HAWK_SYSCALL_FORK 57
#define HAWK_SYSCALL_EXECVE 59
#define HAWK_SYSCALL_SHMDT 67
#define HAWK_SYSCALL_REMAP_FILE_PAGES 216
#define HAWK_SYSCALL_EXECVEAT 322
#define HAWK_SYSCALL_PKEY_MPROTECT 329
#define HAWK_SYSCALL_CLONE3 435

/* In thread_info.status: the call is one of a 32-bit kernel's, whose numbers and arguments mean something else. A 64-bit program can
 * make such calls as well (int 0x80). */
#define HAWK_TS_COMPAT 2

#define HAWK_MAP_FIXED 0x10
#define HAWK_MAP_STACK 0x20000
#define HAWK_SHM_REMAP 040000

#endif
