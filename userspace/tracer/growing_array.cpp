#include "userspace/tracer/growing_array.h"

#include <sys/mman.h>

#include <cstdint>
#include <new>

namespace hawk {
namespace {

constexpr std::size_t kPageBytes = 4096;
/// What is mapped at a time: each time makes a mapping of its own.
constexpr std::size_t kStepBytes = 16 * kPageBytes;

std::size_t bytes_into_page(const std::byte* address) { return reinterpret_cast<std::uintptr_t>(address) % kPageBytes; }

std::byte* next_page(std::byte* address) { return address + (kPageBytes - bytes_into_page(address)) % kPageBytes; }

bool hide(std::byte* first, std::size_t bytes) {
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  return bytes == 0 || ::mmap(first, bytes, PROT_NONE, kFlags, -1, 0) != MAP_FAILED;
}

}  // namespace

GrowingMapping::GrowingMapping(int map_fd, std::span<std::byte> mapped, std::span<std::byte> part)
    : map_fd_(map_fd), map_(mapped.data()), part_(part.data()), next_(next_page(part.data())) {
  std::byte* const end = part.data() + part.size();
  end_ = std::max(next_, end - bytes_into_page(end));
  if (!hide(next_, static_cast<std::size_t>(end_ - next_))) next_ = end_;
}

void GrowingMapping::require(std::size_t bytes) {
  if (part_ + bytes <= next_ || next_ == end_) return;
  const std::size_t missing = static_cast<std::size_t>(part_ + bytes - next_);
  const std::size_t steps = (missing + kStepBytes - 1) / kStepBytes * kStepBytes;
  const std::size_t wanted = std::min(steps, static_cast<std::size_t>(end_ - next_));
  if (::mmap(next_, wanted, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, map_fd_, next_ - map_) == MAP_FAILED)
    throw std::bad_alloc();
  next_ += wanted;
}

void hide_memory(std::span<std::byte> memory) {
  const std::size_t whole_pages = (memory.size() + kPageBytes - 1) / kPageBytes * kPageBytes;
  hide(memory.data(), whole_pages);
}

}  // namespace hawk
