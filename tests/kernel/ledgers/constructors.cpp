// Allocations before main: by a constructor function, by a static object, and then by main.
#include <new>

#include "ledger.h"

extern "C" {
SITE_FUNCTION block before_main_by_malloc(size_t n) { return ALLOCATED(malloc(n), n); }
SITE_FUNCTION block before_main_by_new(size_t n) { return ALLOCATED(::operator new(n), n); }
SITE_FUNCTION block in_main(size_t n) { return ALLOCATED(malloc(n), n); }
}

namespace {

__attribute__((constructor(101))) void first_of_all() {
  for (size_t i = 1; i <= 50; ++i) {
    const block made = before_main_by_malloc(i * 6);
    if (i % 2) release(made);
  }
}

struct Registry {
  Registry() {
    for (size_t i = 0; i < 30; ++i) entries[i] = before_main_by_new(i * 11 + 1);
  }
  block entries[30];
};

Registry registry;

}  // namespace

int main() {
  for (size_t i = 1; i <= 100; ++i) {
    const block made = in_main(i);
    if (i % 2) release(made);
  }
  ::operator delete(registry.entries[7].address);
  ledger_freed(registry.entries[7]);
  ledger_end();
  _exit(0);  // the ledger is closed: nothing may be freed by exit handlers
}
