#pragma once

// An arena of its own for each test of the live table.

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <memory>
#include <mutex>

#include "tests/unit/bpf/host_arena.h"

namespace hawk {

inline constexpr std::size_t kPages = 16384;

class LiveArena : public ::testing::Test {
 protected:
  void SetUp() override {
    header_ = std::make_unique<hawk_arena_header>();
    memory_ = ::mmap(nullptr, kPages * sizeof(hawk_live_page), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ASSERT_NE(memory_, MAP_FAILED);
    host_arena::header = header_.get();
    host_arena::pages = static_cast<hawk_live_page*>(memory_);
    host_arena::spilled.clear();
    host_arena::ended = ~0U;
    header_->geometry = hawk_geometry_pack(hawk_geometry_start());
    header_->pages_ready = kPages;
    header_->cpus = 8;
  }
  void TearDown() override { ::munmap(memory_, kPages * sizeof(hawk_live_page)); }

  static hawk_insertion insert(__u64 address, const hawk_block& block) {
    hawk_request request = hawk_insertion_of(hawk_live_hash(address, block.program), address, &block);
    hawk_do(&request);
    if (request.growth_check != 0) hawk_resize(1);
    if (request.result == HAWK_NO_ROOM) hawk_spill(address, &request.slot, block.program);
    return request.result == HAWK_NO_ROOM ? HAWK_INSERTED : static_cast<hawk_insertion>(request.result);
  }

  /// The block that was at `address`; a size of ~0: none.
  static hawk_block take(__u64 address, __u32 program = 0) {
    hawk_request request = hawk_take_of(address, program);
    hawk_do(&request);
    if (request.result == HAWK_TAKEN) return hawk_slot_block(&request.found, program);
    const std::lock_guard guard(host_arena::spilled_mutex);
    const auto found = host_arena::spilled.find(address);
    if (found == host_arena::spilled.end()) return {.size_bytes = ~0ULL, .stack = 0, .program = 0, .born = 0};
    const hawk_block block = hawk_slot_block(&found->second, program);
    host_arena::spilled.erase(found);
    return block;
  }

  __u32 pages_used() const {
    return hawk_geometry_pages(hawk_geometry_unpack(__atomic_load_n(&header_->geometry, __ATOMIC_ACQUIRE)));
  }

  __s64 population() const {
    __s64 sum = 0;
    for (const hawk_cpu_population& cpu : header_->population) sum += cpu.blocks;
    return sum;
  }

  std::unique_ptr<hawk_arena_header> header_;
  void* memory_ = nullptr;
};

inline hawk_block block_of(__u64 address) {
  return {.size_bytes = address >> 4 & 0xffffff,
          .stack = static_cast<__u32>(address >> 7 & 0xffff),
          .program = 0,
          .born = static_cast<__u32>(address >> 3 & HAWK_STAMP_MOST)};
}

}  // namespace hawk
