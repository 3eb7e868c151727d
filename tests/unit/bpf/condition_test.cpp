#include "bpf/arch/x86_64/condition.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>

namespace {

/// What the processor says of each condition: setcc has the conditions of jcc.
std::array<std::uint8_t, 16> by_processor(std::uint64_t flags) {
  std::array<std::uint8_t, 16> holds = {};
  // The red zone is left alone.
  __asm__ volatile(
      "lea -128(%%rsp), %%rsp; push %0; popf; lea 128(%%rsp), %%rsp\n"
      "seto 0(%1); setno 1(%1); setb 2(%1); setnb 3(%1); setz 4(%1); setnz 5(%1); setbe 6(%1); seta 7(%1)\n"
      "sets 8(%1); setns 9(%1); setp 10(%1); setnp 11(%1); setl 12(%1); setge 13(%1); setle 14(%1); setg 15(%1)\n"
      :
      : "r"(flags), "r"(holds.data())
      : "cc", "memory");
  return holds;
}

TEST(Condition, HoldsWhenTheProcessorSaysSo) {
  constexpr std::array<std::uint64_t, 5> kFlags = {HAWK_FLAG_CARRY, HAWK_FLAG_PARITY, HAWK_FLAG_ZERO, HAWK_FLAG_SIGN,
                                                   HAWK_FLAG_OVERFLOW};
  constexpr std::uint64_t kAlways = 0x202;  // the reserved bit and interrupts, as in any program
  for (std::uint32_t set = 0; set < 1u << kFlags.size(); ++set) {
    std::uint64_t flags = kAlways;
    for (std::size_t i = 0; i < kFlags.size(); ++i) flags |= (set >> i & 1) != 0 ? kFlags[i] : 0;
    const std::array<std::uint8_t, 16> expected = by_processor(flags);
    for (std::uint32_t condition = 0; condition < expected.size(); ++condition) {
      EXPECT_EQ(hawk_condition_holds(flags, condition), expected[condition]) << condition << " with flags " << flags;
    }
  }
}

}  // namespace
