/* Every form of operator new and delete, on memory of this file's own: what most calls of operator new return no malloc
 * has seen. Included by a program, or compiled as a library. */
#ifndef HAWKTRACE_OWN_OPERATORS_H
#define HAWKTRACE_OWN_OPERATORS_H

#include <cstddef>
#include <cstdlib>
#include <new>

namespace own {

/* Sizes are rounded to this many bytes, to which blocks are aligned. As many before each hold its size. */
constexpr std::size_t kUnit = 64;
/* Larger ones are malloc's, behind the same header. */
constexpr std::size_t kMostPooledUnits = 64;

alignas(kUnit) inline char pool[16 << 20];
inline std::size_t used;
inline void* freed[kMostPooledUnits + 1];

inline char* from_pool(std::size_t units) {
  if (void* block = freed[units]) {
    freed[units] = *static_cast<void**>(block);
    return static_cast<char*>(block) - kUnit;
  }
  const std::size_t bytes = (units + 1) * kUnit;
  if (used + bytes > sizeof(pool)) return nullptr;
  used += bytes;
  return pool + used - bytes;
}

/* Not inlined, so that there is one function that all forms call. */
[[gnu::noinline]] inline void* allocate(std::size_t bytes) {
  const std::size_t units = (bytes + kUnit - 1) / kUnit;
  void* header = units <= kMostPooledUnits ? from_pool(units) : std::aligned_alloc(kUnit, (units + 1) * kUnit);
  if (header == nullptr) return nullptr;
  *static_cast<std::size_t*>(header) = units;
  return static_cast<char*>(header) + kUnit;
}

[[gnu::noinline]] inline void release(void* block) {
  if (block == nullptr) return;
  void* header = static_cast<char*>(block) - kUnit;
  const std::size_t units = *static_cast<std::size_t*>(header);
  if (units > kMostPooledUnits) return std::free(header);
  *static_cast<void**>(block) = freed[units];
  freed[units] = block;
}

inline void* allocate_or_throw(std::size_t bytes) {
  void* block = allocate(bytes);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

}  // namespace own

/* The replacements of the language. Calls of a program that has them in the same file as these would be inlined, and
 * unseen. */
#define OWN_OPERATOR __attribute__((noinline, noipa))
OWN_OPERATOR void* operator new(std::size_t n) { return own::allocate_or_throw(n); }
OWN_OPERATOR void* operator new[](std::size_t n) { return own::allocate_or_throw(n); }
OWN_OPERATOR void* operator new(std::size_t n, const std::nothrow_t&) noexcept { return own::allocate(n); }
OWN_OPERATOR void* operator new[](std::size_t n, const std::nothrow_t&) noexcept { return own::allocate(n); }
OWN_OPERATOR void* operator new(std::size_t n, std::align_val_t) { return own::allocate_or_throw(n); }
OWN_OPERATOR void* operator new[](std::size_t n, std::align_val_t) { return own::allocate_or_throw(n); }
OWN_OPERATOR void* operator new(std::size_t n, std::align_val_t, const std::nothrow_t&) noexcept {
  return own::allocate(n);
}
OWN_OPERATOR void* operator new[](std::size_t n, std::align_val_t, const std::nothrow_t&) noexcept {
  return own::allocate(n);
}
OWN_OPERATOR void operator delete(void* block) noexcept { own::release(block); }
OWN_OPERATOR void operator delete[](void* block) noexcept { own::release(block); }
OWN_OPERATOR void operator delete(void* block, std::size_t) noexcept { own::release(block); }
OWN_OPERATOR void operator delete[](void* block, std::size_t) noexcept { own::release(block); }
OWN_OPERATOR void operator delete(void* block, std::align_val_t) noexcept { own::release(block); }
OWN_OPERATOR void operator delete[](void* block, std::align_val_t) noexcept { own::release(block); }
OWN_OPERATOR void operator delete(void* block, std::size_t, std::align_val_t) noexcept { own::release(block); }
OWN_OPERATOR void operator delete[](void* block, std::size_t, std::align_val_t) noexcept { own::release(block); }

#endif
