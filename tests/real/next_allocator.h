/* For counters that are preloaded: the allocator that they pass calls on to, and blocks for dlsym while it is looked
 * for. */
#ifndef HAWKTRACE_TESTS_REAL_NEXT_ALLOCATOR_H
#define HAWKTRACE_TESTS_REAL_NEXT_ALLOCATOR_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

static struct {
  void* (*malloc)(size_t);
  void* (*calloc)(size_t, size_t);
  void* (*realloc)(void*, size_t);
  void* (*reallocarray)(void*, size_t, size_t);
  void (*free)(void*);
  int (*posix_memalign)(void**, size_t, size_t);
  void* (*aligned_alloc)(size_t, size_t);
  void* (*memalign)(size_t, size_t);
  void* (*valloc)(size_t);
  void* (*pvalloc)(size_t);
} next;

static _Noreturn void die(const char* what) {
  ssize_t ignored = write(STDERR_FILENO, what, strlen(what));
  (void)ignored;
  _exit(125);
}

/* Blocks handed out while dlsym looks for the allocator: never given back. */
static _Alignas(max_align_t) char early[1 << 14];
static size_t early_used;
static bool resolving;

static void* early_block(size_t bytes) {
  if (bytes > sizeof(early) - early_used) die("counter: dlsym asks for too much memory\n");
  void* block = early + early_used;
  early_used += (bytes + 15) & ~(size_t)15;
  return block;
}

static bool is_early(const void* block) {
  return (const char*)block >= early && (const char*)block < early + sizeof(early);
}

static void resolve_one(void* into, const char* name) {
  void* function = dlsym(RTLD_NEXT, name);
  memcpy(into, &function, sizeof(function));
}

/* To be called while `resolving` is set: dlsym allocates. */
static void resolve_next(void) {
  resolve_one(&next.malloc, "malloc");
  resolve_one(&next.calloc, "calloc");
  resolve_one(&next.realloc, "realloc");
  resolve_one(&next.reallocarray, "reallocarray");
  resolve_one(&next.posix_memalign, "posix_memalign");
  resolve_one(&next.aligned_alloc, "aligned_alloc");
  resolve_one(&next.memalign, "memalign");
  resolve_one(&next.valloc, "valloc");
  resolve_one(&next.pvalloc, "pvalloc");
  resolve_one(&next.free, "free");
}

#endif
