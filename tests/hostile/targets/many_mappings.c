/* As many mappings as the kernel allows, 65,530, half of them executable and of a file, and they change under the
 * trace. */
#include "hostile.h"

enum { kMappings = 64000, kPage = 4096 };

int main(void) {
  int self = open("/proc/self/exe", O_RDONLY);
  char* base = mmap(NULL, (size_t)kMappings * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ledger_require(self >= 0 && base != MAP_FAILED, "there is room");
  int failed = 0;
  for (size_t i = 0; i < kMappings; i += 2) {
    failed += mmap(base + i * kPage, kPage, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, self, 0) == MAP_FAILED;
  }
  ledger_require(failed == 0, "so many mappings can be made");
  ledger_begin();
  for (size_t i = 0; i < 400; i++) {
    allocate_a_while(2);
    munmap(base + i * kPage, kPage);
  }
  ledger_end();
  return 0;
}
