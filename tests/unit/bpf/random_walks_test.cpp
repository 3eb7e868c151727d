// Walks of one thread after the other over random stacks, by random rules: what a thread knows changes no walk.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

#include "bpf/unwind/ends.h"
#include "tests/unit/bpf/walk_world.h"

namespace hawk {
namespace {

/// Random rules of all kinds, stacks and registers.
class Chance {
 public:
  explicit Chance(unsigned long seed) : random_(seed) {}
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

  hawk_rule rule() {
    static constexpr std::array kBases = {HAWK_BASE_SP, HAWK_BASE_SP, HAWK_BASE_FP};
    static constexpr std::array kPlaces = {HAWK_FP_SAME, HAWK_FP_SAME,  HAWK_FP_AT_CFA, HAWK_FP_AT_CFA,
                                           HAWK_FP_LOST, HAWK_FP_AT_SP, HAWK_FP_AT_FP};
    static constexpr std::array kKinds = {HAWK_RULE_LOADED, HAWK_RULE_PLT, HAWK_RULE_SIGNAL,
                                          HAWK_RULE_GAP,    HAWK_RULE_END, HAWK_RULE_END};
    hawk_rule rule = plain(kBases[below(3)], 8 * static_cast<std::int32_t>(below(20)) - 16, kPlaces[below(7)],
                           8 * static_cast<std::int32_t>(below(6)) - 32);
    if (below(16) == 0) ++rule.cfa_offset;
    if (below(3) != 0) return rule;
    rule.kind = static_cast<__u8>(kKinds[below(kKinds.size())]);
    rule.load_offset = 8 * static_cast<std::int32_t>(below(3)) - 8;
    return rule.kind < HAWK_RULE_PLAIN || rule.kind > HAWK_RULE_PLT ? rule_without_operands(rule.kind) : rule;
  }
  std::uint64_t code(std::size_t function_count) { return in(below(function_count)) + below(2); }
  std::uint64_t stack() { return kStack + 8 * below(kStackWords); }
  std::uint64_t word(std::size_t function_count) {
    switch (below(16)) {
      case 0:
        return below(3);
      case 1:
        return ~below(2);
      case 2:
        return random_();
      case 3:
      case 4:
      case 5:
      case 6:
        return stack();
      default:
        return code(function_count);
    }
  }
  HostRegisters registers(std::size_t function_count) {
    return {.pc = code(function_count), .sp = kStack + 16 * below(kStackWords / 2), .fp = stack()};
  }

 private:
  std::mt19937_64 random_;
};

// Whatever a thread has seen: other rules, other stacks at the same place, stacks that are none.
TEST(RandomWalks, AreThoseOfANewThread) {
  constexpr std::size_t kFunctions = 12, kGenerations = 300, kStacks = 12, kWalks = 16;
  Chance chance(1);
  World world({});
  std::size_t known = 0, frames = 0;
  for (std::size_t i = 0; i < kGenerations * kStacks; ++i) {
    if (i % kStacks == 0) {
      std::vector<hawk_rule> rules(kFunctions);
      std::ranges::generate(rules, [&chance] { return chance.rule(); });
      world.change(rules);
    }
    for (std::uint64_t at = kStack; at < kStack + 8 * kStackWords; at += 8) {
      if (i % 4 == 0 || chance.below(8) == 0) world.word(at) = chance.word(kFunctions);
    }
    const HostRegisters start = chance.registers(kFunctions);
    for (std::size_t walk = 0; walk < kWalks; ++walk) {
      HostRegisters registers = walk % 2 == 0 ? start : chance.registers(kFunctions);
      if (walk % 8 == 4) registers.fp = chance.stack();
      const std::uint32_t max_depth = 1 + static_cast<std::uint32_t>(chance.below(HAWK_MAX_FRAMES));
      const hawk_unwind mode = walk % 4 < 2 ? HAWK_UNWIND_CFI : HAWK_UNWIND_AUTO;
      const HostWalk kept = world.walk(registers, max_depth, mode);
      ASSERT_TRUE(is_same_stack(kept, world.walk_afresh(registers, max_depth, mode))) << i << ", " << walk;
      ASSERT_EQ(kept.hash, hash_of(kept));
      known += kept.known_steps;
      frames += kept.frames.size();
    }
  }
  EXPECT_GT(known, frames / 20) << frames;
}

}  // namespace
}  // namespace hawk
