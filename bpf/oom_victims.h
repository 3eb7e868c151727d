/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What the program oom_victims and user space agree on. */
#ifndef HAWKTRACE_OOM_VICTIMS_H
#define HAWKTRACE_OOM_VICTIMS_H

#define HAWK_OOM_RING_BYTES 4096
#define HAWK_PID_LEVELS 33 /* MAX_PID_NS_LEVEL, and the first */
#define HAWK_FIRST_PID_NAMESPACE 0xEFFFFFFC /* PROC_PID_INIT_INO */

#endif
