/* No allocator: calls what it is given. Stands between a wrapper and the allocator below (wrapping_library.c). */
#include <stddef.h>

void* pass_on(void* (*allocate)(size_t), size_t n) {
  void* volatile block = allocate(n);
  return block;
}
