/* free_sized and free_aligned_sized of C23, as a library that passes them on to free, for a libc that has neither. */
#include <stddef.h>
#include <stdlib.h>

void free_sized(void* address, size_t bytes);
void free_aligned_sized(void* address, size_t alignment, size_t bytes);

void free_sized(void* address, size_t bytes) {
  (void)bytes;
  free(address);
}

void free_aligned_sized(void* address, size_t alignment, size_t bytes) {
  (void)alignment;
  (void)bytes;
  free(address);
}
