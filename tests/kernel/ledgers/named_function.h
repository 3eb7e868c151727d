/* Functions of an allocator that is preloaded, by name: the ledger program is not linked with it. */
#ifndef HAWKTRACE_NAMED_FUNCTION_H
#define HAWKTRACE_NAMED_FUNCTION_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>

#include "ledger.h"

static inline void* named_function(const char* name) {
  void* function = dlsym(RTLD_DEFAULT, name);
  ledger_require(function != NULL, name);
  return function;
}

/* NAMED(void*, mallocx, size_t, int): a variable of the function's name, set when the program starts. */
#define NAMED(result, name, ...)      \
  static result (*name)(__VA_ARGS__); \
  __attribute__((constructor)) static void find_##name(void) { *(void**)&name = named_function(#name); }

#endif
