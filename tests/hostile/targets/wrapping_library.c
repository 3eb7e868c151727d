/* Stands before libc's allocator, asks it for 32 bytes more, and gives out what lies behind its own header: what the
 * program asks for is not what libc is asked for, and not where libc says that it is. With THROUGH_OTHERS it asks
 * through a library that is no allocator's (passing_library.c). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { kHeader = 32 };

void* __libc_malloc(size_t);
void __libc_free(void*);

static void* (*next_malloc)(size_t);
static void (*next_free)(void*);

#ifdef THROUGH_OTHERS
void* pass_on(void* (*allocate)(size_t), size_t n);
#else
static void* pass_on(void* (*allocate)(size_t), size_t n) { return allocate(n); }
#endif

static void find_next(void) {
  if (!next_malloc) next_malloc = (void* (*)(size_t))dlsym(RTLD_NEXT, "malloc");
  if (!next_free) next_free = (void (*)(void*))dlsym(RTLD_NEXT, "free");
}
void* malloc(size_t n) {
  find_next();
  size_t* header = pass_on(next_malloc, n + kHeader);
  if (!header) return NULL;
  *header = n;
  return (char*)header + kHeader;
}
void free(void* block) {
  find_next();
  if (block) next_free((char*)block - kHeader);
}
void* calloc(size_t count, size_t each) {
  void* block = malloc(count * each);
  return block ? memset(block, 0, count * each) : NULL;
}
void* realloc(void* old, size_t n) {
  void* fresh = malloc(n);
  if (!fresh || !old) return fresh;
  size_t before = *(size_t*)((char*)old - kHeader);
  memcpy(fresh, old, before < n ? before : n);
  free(old);
  return fresh;
}
int posix_memalign(void** result, size_t alignment, size_t n) {
  *result = malloc(n); /* of the alignment it makes no promise */
  return *result || alignment == 0 ? 0 : 12;
}
