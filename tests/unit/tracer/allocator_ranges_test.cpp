#include "userspace/tracer/allocator_ranges.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdint>
#include <new>
#include <vector>

namespace hawk {
namespace {

/// The state that programs read, in pages of its own.
class AllocatorRanges : public ::testing::Test {
 protected:
  AllocatorRanges()
      : memory_(::mmap(nullptr, sizeof(hawk_target), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
  }
  ~AllocatorRanges() override { ::munmap(memory_, sizeof(hawk_target)); }
  AllocatorRanges(const AllocatorRanges&) = delete;
  AllocatorRanges& operator=(const AllocatorRanges&) = delete;

  hawk_target& state() { return *static_cast<hawk_target*>(memory_); }
  void set(const std::vector<AddressRange>& ranges) {
    set_allocator_ranges(state(), ranges, allocators_mapped(state()));
  }
  /// From now on a write ends the test.
  void seal() { ASSERT_EQ(::mprotect(memory_, sizeof(hawk_target), PROT_READ), 0); }

 private:
  void* memory_;
};

const std::vector<AddressRange> kTwo = {{0x5000, 0x6000}, {0x1000, 0x3000}};

TEST_F(AllocatorRanges, SpanAllOfThem) {
  set(kTwo);
  EXPECT_EQ(state().files.allocator_range_count, 2u);
  EXPECT_EQ(state().files.allocators_low, 0x1000u);
  EXPECT_EQ(state().files.allocators_high, 0x6000u);
}

/// Else there would be a moment in which the programs know none: under load, one of milliseconds.
TEST_F(AllocatorRanges, ThatAreSetAlreadyAreNotRewritten) {
  set(kTwo);
  seal();
  set(kTwo);
  EXPECT_EQ(state().files.allocator_range_count, 2u);
}

TEST_F(AllocatorRanges, AreSetAgainAfterTheyWereForgotten) {
  set(kTwo);
  forget_allocator_ranges(state());
  EXPECT_EQ(state().files.allocator_range_count, 0u);
  set(kTwo);
  EXPECT_EQ(state().files.allocator_range_count, 2u);
}

TEST_F(AllocatorRanges, OthersReplaceThem) {
  set(kTwo);
  set({{0x1000, 0x2000}, {0x5000, 0x6000}});
  EXPECT_EQ(state().files.allocator_ranges[0].end, 0x2000u);
  set({});
  EXPECT_EQ(state().files.allocator_range_count, 0u);
  EXPECT_EQ(state().files.allocators_low, 0u);
}

TEST_F(AllocatorRanges, TooManyAreNone) {
  set(std::vector<AddressRange>(HAWK_MAX_ALLOCATOR_RANGES + 1, {0x1000, 0x2000}));
  EXPECT_EQ(state().files.allocator_range_count, 0u);
}

/// The programs have forgotten them for it, and what is mapped is not known yet.
TEST_F(AllocatorRanges, AreNotSetBeforeWhatWasMappedIsKnown) {
  const std::uint32_t before = allocators_mapped(state());
  ++state().allocators_mapped;
  set_allocator_ranges(state(), kTwo, before);
  EXPECT_EQ(state().files.allocator_range_count, 0u);
  set(kTwo);
  EXPECT_EQ(state().files.allocator_range_count, 2u);
}

}  // namespace
}  // namespace hawk
