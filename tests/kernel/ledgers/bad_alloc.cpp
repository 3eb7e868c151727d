// operator new that throws, while its returns are watched: the exception must pass, and the program must live.
#include <new>

#include "ledger.h"

namespace {
constexpr size_t kAbsurd = size_t{1} << 60;
}

extern "C" {
SITE_FUNCTION block by_new(size_t n) { return ALLOCATED(::operator new(n), n); }
SITE_FUNCTION block by_new_array(size_t n) { return ALLOCATED(::operator new[](n), n); }

SITE_FUNCTION bool new_throws(size_t n, bool array) {
  try {
    array ? by_new_array(n) : by_new(n);
  } catch (const std::bad_alloc&) {
    return true;
  }
  return false;
}
}

int main() {
  // The first throw makes libgcc and the dynamic linker look up what they need.
  ledger_require(new_throws(kAbsurd, false), "new throws before the trace");
  ledger_begin();
  uint64_t throws = 0;
  for (size_t i = 1; i <= 100; ++i) {
    const volatile size_t absurd = kAbsurd + i;
    ledger_require(new_throws(absurd, i % 2 != 0), "new throws during the trace");
    ++throws;
    const block one = by_new(i * 9), many = by_new_array(i * 7);
    if (i % 2) {
      ::operator delete(one.address);
      ledger_freed(one);
    } else {
      ::operator delete[](many.address);
      ledger_freed(many);
    }
  }
  ledger_value("untraced_frees", 0);
  ledger_foreign("__cxa_allocate_exception", throws);
  ledger_end();
  return 0;
}
