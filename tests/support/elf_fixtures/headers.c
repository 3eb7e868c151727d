/* An allocator in front of libc's, which puts headers before its blocks, and operators in front of that. With OWN_NEW
 * operator new has blocks of its own, too. Never run. */
#include <stddef.h>

#define EXPORT __attribute__((visibility("default")))

void* __libc_malloc(size_t bytes);
void __libc_free(void* address);

EXPORT void* malloc(size_t bytes);
EXPORT void free(void* address);
EXPORT void cfree(void* address);
EXPORT void* _Znwm(size_t bytes);
EXPORT void _ZdlPv(void* address);
EXPORT void _ZdlPvm(void* address, size_t bytes);

EXPORT void* malloc(size_t bytes) { return (char*)__libc_malloc(bytes + 16) + 16; }
EXPORT void free(void* address) {
  if (address) __libc_free((char*)address - 16);
}
/* The block itself. */
EXPORT void cfree(void* address) { free(address); }

#ifdef OWN_NEW
void** pool;
#endif
EXPORT void* _Znwm(size_t bytes) {
#ifdef OWN_NEW
  if (pool) return *pool;
#endif
  return (char*)malloc(bytes + 32) + 32;
}
EXPORT void _ZdlPv(void* address) { free((char*)address - 32); }
EXPORT void _ZdlPvm(void* address, size_t bytes) {
  (void)bytes;
  _ZdlPv(address);
}
