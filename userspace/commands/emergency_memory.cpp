// Linked only into the program: it replaces the operator new of everything that it is linked into.
#include "userspace/commands/emergency_memory.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

constexpr std::size_t kPoolBytes = 4 << 20;
constexpr std::size_t kLargestRequest = 64 << 10;  // what is larger is a table, not a part of a report's head
constexpr std::size_t kAlignment = alignof(std::max_align_t);

alignas(kAlignment) std::array<std::byte, kPoolBytes> pool;  // uses no memory before it is accessed
std::atomic<std::size_t> used = 0;
std::atomic<bool> is_allowed = false;

/// Never given back: it is for the end of the program.
void* from_pool(std::size_t bytes) noexcept {
  if (!is_allowed || bytes > kLargestRequest) return nullptr;
  const std::size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  const std::size_t at = used.fetch_add(rounded);
  return at + rounded <= kPoolBytes ? &pool[at] : nullptr;
}

bool is_in_pool(const void* address) noexcept {
  const auto* byte = static_cast<const std::byte*>(address);
  return byte >= pool.data() && byte < pool.data() + pool.size();
}

}  // namespace

// As the standard library's, which these replace, where the other forms call the first one. They are all here, because
// those of a preloaded allocator would not: what its operator new[] returns would come to this operator delete
// (gperftools' debugging library ends the program then). The forms for aligned memory go together, wherever they are.
void* operator new(std::size_t bytes) {
  const std::size_t wanted = bytes == 0 ? 1 : bytes;
  while (true) {
    if (void* address = std::malloc(wanted)) return address;
    if (void* address = from_pool(wanted)) return address;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

void operator delete(void* address) noexcept {
  if (!is_in_pool(address)) std::free(address);
}

void operator delete(void* address, std::size_t) noexcept { ::operator delete(address); }
void operator delete(void* address, const std::nothrow_t&) noexcept { ::operator delete(address); }

void* operator new[](std::size_t bytes) { return ::operator new(bytes); }
void operator delete[](void* address) noexcept { ::operator delete(address); }
void operator delete[](void* address, std::size_t) noexcept { ::operator delete(address); }
void operator delete[](void* address, const std::nothrow_t&) noexcept { ::operator delete(address); }

void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  try {
    return ::operator new(bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void* operator new[](std::size_t bytes, const std::nothrow_t& nothrow) noexcept {
  return ::operator new(bytes, nothrow);
}

namespace hawk {

void allow_emergency_memory() { is_allowed = true; }

}  // namespace hawk
