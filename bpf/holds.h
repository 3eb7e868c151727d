/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What the programs and user space share of threads that are held: see holds.bpf.h. */
#ifndef HAWKTRACE_HOLDS_H
#define HAWKTRACE_HOLDS_H

#include "bpf/types.h"

/* A file in one state: a write changes its time, and another file with the number of one that was deleted has another
 * generation. It is the file that the kernel really maps, also where an overlay file system shows another one. */
struct hawk_file_key {
	__u64 inode;
	__u64 changed_s;          /* ctime */
	__u32 changed_ns;
	__u32 device;             /* as the kernel encodes it */
	__u32 generation;
	__u32 pad_0;
};

/* What is known of a file (studied_files): it has no probes, or else the bit of hawk_target.probed_files_mask which says whether a
 * process has them; beyond the last bit nothing says so. */
#define HAWK_FILE_WITHOUT_PROBES 0xffffffffu
#define HAWK_FILE_BITS 64u

/* Files that are known at a time. Full: those that are new hold each process that maps them, for a moment. */
#define HAWK_MAX_STUDIED_FILES 16384
/* Threads that are held at a time. */
#define HAWK_MAX_HELD 1024

/* Places for processes that are kept ready (spare_targets): with fewer than so many a thread that makes a process is held, too,
 * until user space has added some, if it has any. */
#define HAWK_FEW_SPARES 128u

/* The longest that a thread is held for: a hawktrace that is stopped keeps no thread for ever. Probing a new allocator takes a tenth of
 * a second, and seconds on a machine that is overloaded. Afterwards none is held until user space has answered. */
#define HAWK_LONGEST_HOLD_NS 10000000000ull

#endif
