/* What faults.c does, and what it saw: a file that it and the test map. Compiles as C11 and as C++20. */
#ifndef HAWKTRACE_FAULT_PLAN_H
#define HAWKTRACE_FAULT_PLAN_H

#include <stdint.h>

#define FAULT_PLAN_VARIABLE "HAWK_FAULT_PLAN"

enum fault_kind {
  FAULT_NONE,
  FAULT_MEMORY,
  FAULT_OPEN,
  FAULT_READ,
  FAULT_WRITE,
  FAULT_MAP,
  FAULT_DESCRIPTOR,
  FAULT_WAIT,
  FAULT_BPF,
  FAULT_THREAD,
  FAULT_SPAWN,
  FAULT_READER, /* what is sent to a process that reads files: all of them are killed before */
};

/* A BPF object that hawktrace has made. */
enum fault_object_type { FAULT_MAP_OBJECT, FAULT_PROGRAM_OBJECT, FAULT_LINK_OBJECT, FAULT_BTF_OBJECT };

struct fault_object {
  uint32_t type;
  uint32_t id;
};

enum { FAULT_MAX_OBJECTS = 4096 };

struct fault_plan {
  uint32_t kind;
  int32_t error;     /* errno of the failing calls; 0: a short read or write */
  uint64_t first;    /* the first call that fails, from 1; 0: none */
  uint32_t for_ever; /* and all after it */
  uint32_t pad_0;
  uint64_t calls;  /* made so far */
  uint64_t failed; /* made to fail */
  uint64_t object_count;
  struct fault_object objects[FAULT_MAX_OBJECTS]; /* all that were made, closed ones included */
};

#endif
