#include "userspace/tracer/growing_array.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdint>

#include "userspace/base/check.h"
#include "userspace/base/unique_fd.h"

namespace hawk {
namespace {

constexpr std::size_t kPageNumbers = 4096 / sizeof(std::uint64_t);

bool is_mapped(const void* address) {
  char byte = 0;
  const iovec local = {.iov_base = &byte, .iov_len = 1},
              remote = {.iov_base = const_cast<void*>(address), .iov_len = 1};
  return ::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0) == 1;
}

/// A map of 64 pages of numbers, each of which is its index, mapped as libbpf maps one.
class GrowingArrayTest : public testing::Test {
 protected:
  static constexpr std::size_t kNumbers = 64 * kPageNumbers;
  static constexpr std::size_t kFirst = kPageNumbers + 10, kCount = 40 * kPageNumbers;

  GrowingArrayTest() {
    HAWK_CHECK(map_ && ::ftruncate(map_.get(), kNumbers * sizeof(std::uint64_t)) == 0, "memfd");
    void* const mapped =
        ::mmap(nullptr, kNumbers * sizeof(std::uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, map_.get(), 0);
    HAWK_CHECK(mapped != MAP_FAILED, "mmap");
    numbers_ = {static_cast<std::uint64_t*>(mapped), kNumbers};
    for (std::size_t i = 0; i < kNumbers; ++i) numbers_[i] = i;
  }
  ~GrowingArrayTest() override { ::munmap(numbers_.data(), numbers_.size_bytes()); }

  GrowingArray<std::uint64_t> array() {
    return {numbers_.subspan(kFirst, kCount), map_.get(), std::as_writable_bytes(numbers_)};
  }

  UniqueFd map_{::memfd_create("map", MFD_CLOEXEC)};
  std::span<std::uint64_t> numbers_;
};

TEST_F(GrowingArrayTest, IsMappedFromItsBeginningAsFarAsItIsNeeded) {
  GrowingArray<std::uint64_t> array = this->array();
  EXPECT_FALSE(is_mapped(&numbers_[2 * kPageNumbers]));
  const std::span<std::uint64_t> some = array.first(5 * kPageNumbers);
  ASSERT_EQ(some.size(), 5 * kPageNumbers);
  for (std::size_t i = 0; i < some.size(); ++i) ASSERT_EQ(some[i], kFirst + i);
  EXPECT_FALSE(is_mapped(&numbers_[kFirst + kCount - 2 * kPageNumbers]));
  EXPECT_EQ(array.first(1).data(), some.data()) << "and no less from then on";
  EXPECT_EQ(some.back(), kFirst + some.size() - 1);
}

TEST_F(GrowingArrayTest, IsTheMemoryOfTheMap) {
  GrowingArray<std::uint64_t> array = this->array();
  array.first(20 * kPageNumbers)[19 * kPageNumbers] = 7;
  std::uint64_t stored = 0;
  ASSERT_EQ(::pread(map_.get(), &stored, sizeof(stored), (kFirst + 19 * kPageNumbers) * sizeof(stored)),
            static_cast<ssize_t>(sizeof(stored)));
  EXPECT_EQ(stored, 7u);
}

TEST_F(GrowingArrayTest, EndsWhereTheArrayDoes) {
  GrowingArray<std::uint64_t> array = this->array();
  EXPECT_EQ(array.first(kCount + 1).size(), kCount);
  const std::span<std::uint64_t> all = array.all();
  for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], kFirst + i);
}

TEST_F(GrowingArrayTest, LeavesItsNeighboursMapped) {
  GrowingArray<std::uint64_t> array = this->array();
  EXPECT_EQ(array.size(), kCount);
  for (std::size_t i = 0; i < kFirst; ++i) ASSERT_EQ(numbers_[i], i);
  for (std::size_t i = kFirst + kCount; i < kNumbers; ++i) ASSERT_EQ(numbers_[i], i);
}

TEST_F(GrowingArrayTest, OneThatLiesInOnePageStaysMapped) {
  GrowingArray<std::uint64_t> array(numbers_.subspan(5, 20), map_.get(), std::as_writable_bytes(numbers_));
  EXPECT_TRUE(is_mapped(&numbers_[5]));
  EXPECT_EQ(array.all()[19], 24u);
}

TEST_F(GrowingArrayTest, HiddenMemoryKeepsItsAddresses) {
  hide_memory(std::as_writable_bytes(numbers_));
  EXPECT_FALSE(is_mapped(numbers_.data()));
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
  EXPECT_EQ(::mmap(numbers_.data(), 4096, PROT_READ, kFlags, -1, 0), MAP_FAILED);
}

}  // namespace
}  // namespace hawk
