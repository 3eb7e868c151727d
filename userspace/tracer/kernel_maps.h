#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include "bpf/layout.h"
#include "userspace/base/result.h"

namespace hawk {

/// A BPF array map, mapped for reading. Programs continue to write into it: read elements with __atomic_load_n.
class MappedArray {
 public:
  MappedArray() = default;
  /// Maps `bytes` bytes of the array map behind `map_fd`.
  static Result<MappedArray> make(int map_fd, std::size_t bytes, const char* name);

  MappedArray(MappedArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  MappedArray& operator=(MappedArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~MappedArray() {
    if (data_ != nullptr) ::munmap(data_, bytes_);
  }

  template <class T>
  std::span<const T> as() const {
    return {static_cast<const T*>(data_), bytes_ / sizeof(T)};
  }

 private:
  MappedArray(void* data, std::size_t bytes) : data_(data), bytes_(bytes) {}
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// The maps that a drain reads.
struct KernelMaps {
  MappedArray counters;       ///< hawk_counters, stripe after stripe
  MappedArray stack_records;  ///< hawk_stack_record
  MappedArray locations;      ///< __u64, addresses
  MappedArray stack_lives;    ///< hawk_stack_lives; empty: not counted
  int thread_names_fd = -1;   ///< -1: stacks are not told apart by threads
  /// `count` numbers of locations from `first` on: those of a stack whose number is known.
  std::function<std::span<const __u32>(std::uint64_t first, std::uint32_t count)> frames = {};
  int child_programs_fd = -1;  ///< see read_children
  hawk_config config = {};
  hawk_state* state = nullptr;          ///< lives as long as the skeleton
  std::span<hawk_target> targets = {};  ///< the same: those whose places have ever been given out (TargetPlaces)

  bool counts_lives() const { return !stack_lives.as<hawk_stack_lives>().empty(); }
};

/// What was begun and not finished.
struct Pending {
  std::uint64_t bytes = 0;
  std::uint64_t count = 0;
  bool operator==(const Pending&) const = default;
};

/// allocated - freed of one of the reserved stack numbers, over all stripes.
Pending pending_on(const KernelMaps& maps, std::uint32_t reserved_number);

}  // namespace hawk
