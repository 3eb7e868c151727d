// How many numbers CPUs can have.
#include "userspace/tracer/cpu_numbers.h"

#include <gtest/gtest.h>

#include <thread>

namespace hawk {
namespace {

TEST(CpuNumbers, OneMoreThanTheHighestOfTheList) {
  EXPECT_EQ(cpu_numbers_of("0\n"), 1u);
  EXPECT_EQ(cpu_numbers_of("0-1\n"), 2u);
  EXPECT_EQ(cpu_numbers_of("0-15"), 16u);
  EXPECT_EQ(cpu_numbers_of("0,2\n"), 3u);
}

TEST(CpuNumbers, MissingNumbersCount) { EXPECT_EQ(cpu_numbers_of("0-3,8-11\n"), 12u); }

TEST(CpuNumbers, NoneInWhatIsNoList) {
  EXPECT_EQ(cpu_numbers_of(""), 0u);
  EXPECT_EQ(cpu_numbers_of("\n"), 0u);
  EXPECT_EQ(cpu_numbers_of("0-4294967296\n"), 0u);
  EXPECT_EQ(cpu_numbers_of("0-4096\n"), 0u);  // more than the kernel has on x86-64
  EXPECT_EQ(cpu_numbers_of("0-4095\n"), 4096u);
}

TEST(CpuNumbers, ThisMachineHasAtLeastThoseThatRun) {
  EXPECT_GE(possible_cpu_numbers(), std::thread::hardware_concurrency());
}

}  // namespace
}  // namespace hawk
