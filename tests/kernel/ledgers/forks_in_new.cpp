// A child is made inside an operator new, for which a block is fetched afterwards, once in each of the two. What the
// operator gives to the child is not seen there. A call that an exception has left is none that the next child is made
// in.
//
// usage: forks_in_new inside|behind FILE
#include <new>

#include "family.h"

namespace {

bool forks = false, is_child = false;
alignas(16) char pool[1 << 16];
size_t used = 0;

[[gnu::noinline]] void* fetch(size_t bytes) {
  if (forks) {
    forks = false;
    const pid_t child = fork();
    if (child < 0) abort();
    is_child = child == 0;
  }
  const size_t at = used, end = at + ((bytes + 31) & ~size_t{15});
  if (end > sizeof(pool)) return nullptr;
  used = end;
  return pool + at;
}

[[gnu::noinline]] void take_from_pool(size_t bytes) {
  void* const volatile block = ::operator new(bytes);
  static_cast<void>(block);
  done.allocated_count++;
  done.allocated_bytes += bytes;
}

[[gnu::noinline]] void fail() {
  try {
    void* const volatile block = ::operator new(sizeof(pool));
    static_cast<void>(block);
  } catch (const std::bad_alloc&) {
    return;
  }
  abort();
}

}  // namespace

[[gnu::noinline]] void* operator new(size_t bytes) {
  void* const block = fetch(bytes);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}
[[gnu::noinline]] void operator delete(void* block) noexcept { asm volatile("" : : "r"(block) : "memory"); }
[[gnu::noinline]] void operator delete(void* block, size_t) noexcept { asm volatile("" : : "r"(block) : "memory"); }

int main(int, char** arguments) {
  const bool is_inside = strcmp(arguments[1], "inside") == 0;
  file = arguments[2];
  take_from_pool(100);
  if (is_inside) {
    forks = true;
    take_from_pool(200);
  } else {
    fail();
    is_child = fork() == 0;
  }
  if (is_child) begin();
  take_from_pool(300);
  if (is_child) {
    write_line();
    _exit(0);
  }
  wait_for_all();
  write_line();
}
