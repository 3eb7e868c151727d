#include "userspace/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace hawk {

void check_failed(const char* file, int line, const char* condition, const char* message) {
  std::fprintf(stderr, "hawktrace: internal error at %s:%d: %s (%s)\n", file, line, message, condition);
  std::abort();
}

}  // namespace hawk
