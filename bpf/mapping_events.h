/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What the kernel side announces to user space of the target's mappings, while the target goes on: one record each. */
#ifndef HAWKTRACE_MAPPING_EVENTS_H
#define HAWKTRACE_MAPPING_EVENTS_H

#include "bpf/holds.h"
#include "bpf/types.h"

/* A path's names are there if all but the outermost fit into so many bytes, a power of two; otherwise none is: user space has
 * other ways to find it. */
#define HAWK_PATH_BYTES 1024
/* NAME_MAX and a zero byte. */
#define HAWK_NAME_BYTES 256
/* Directories of a path, and mounts on its way. */
#define HAWK_PATH_NAMES 96

enum hawk_mapping_event_kind {
	HAWK_MAPPING_MADE,        /* of code, or made code: start to inode, and the path */
	HAWK_MAPPINGS_CHANGED,    /* something became code that no other record names */
	HAWK_PROCESS_BORN,        /* a target has made it, and it is one now: wakes user space up */
	HAWK_PROGRAM_REPLACED,    /* by exec: comm, and the path of the executable file */
};

struct hawk_mapping_event {
	__u32 kind;               /* enum hawk_mapping_event_kind */
	__u32 device;             /* as the kernel encodes it */
	__u64 start;
	__u64 end;
	__u64 file_offset;
	__u64 inode;
	char comm[16];            /* TASK_COMM_LEN */
	struct hawk_file_key file; /* of a file for which the thread is held; inode 0: it is not */
	__u32 path_bytes;         /* that are used below */
	/* The names from the file up to the root directory of the process, a zero byte after each. */
	char path[HAWK_PATH_BYTES + HAWK_NAME_BYTES];
	__u32 target;             /* its first program (hawk_target.first_program): the records of all targets are in one ring */
};

#endif
