// Walks that a thread remembers: a number is only ever that of the stack that a walk would find now.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "bpf/unwind/ends.h"
#include "bpf/unwind/walk_state.h"
#include "tests/unit/bpf/walk_world.h"

namespace hawk {
namespace {

/// kKeeping has its frame by rsp and stores rbp, kFramed by rbp; kOther and kOtherFramed are as the first and the last.
enum : Function { kPlain, kKeeping, kFramed, kOutermost, kOther, kOtherFramed };
constexpr std::uint64_t kFrame = 64;
std::vector<hawk_rule> functions() {
  return {plain(HAWK_BASE_SP, kFrame),
          plain(HAWK_BASE_SP, kFrame, HAWK_FP_AT_CFA, -16),
          plain(HAWK_BASE_FP, 16, HAWK_FP_AT_CFA, -16),
          of_kind(HAWK_RULE_END),
          plain(HAWK_BASE_SP, kFrame),
          plain(HAWK_BASE_FP, 16, HAWK_FP_AT_CFA, -16)};
}

/// Frames of these functions one above the other, each of kFrame bytes, from `lowest` on, where rbp leads to the next.
HostRegisters lay(World& world, const std::vector<Function>& stack, std::uint64_t lowest) {
  std::uint64_t sp = lowest;
  for (std::size_t i = 1; i < stack.size(); ++i) {
    sp += kFrame;
    world.word(sp - 8) = in(stack[i]);
    world.word(sp - 16) = sp + kFrame - 16;
  }
  return {.pc = in(stack[0]), .sp = lowest, .fp = lowest + kFrame - 16};
}

/// A walk that the thread remembers by this number.
HostWalk remember(World& world, const HostRegisters& registers, std::uint32_t number) {
  HostWalk walk = world.learn(registers);
  world.remember(walk, registers, number);
  return walk;
}

/// From every third function on it is another.
std::vector<Function> deep(std::size_t depth) {
  std::vector<Function> stack(depth, kPlain);
  for (std::size_t i = 0; i < depth; ++i) {
    if (i % 3 == 1) stack[i] = kKeeping;
    if (i % 3 == 2) stack[i] = kFramed;
  }
  stack.back() = kOutermost;
  return stack;
}

constexpr std::uint64_t kLowest = kStack + 0xf00;

TEST(Memos, AreOfTheSameWalk) {
  for (const std::size_t depth : {2, 3, 4, 5, 6, 20, 50, 60}) {
    World world(functions());
    const HostRegisters registers = lay(world, deep(depth), kLowest);
    EXPECT_EQ(world.remembered(registers), 0u);
    const HostWalk walk = remember(world, registers, 7);
    ASSERT_EQ(walk.frames.size(), depth);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(world.remembered(registers), 7u) << depth;
  }
}

// One return address, and one saved rbp that leads on, at every depth.
TEST(Memos, CountOnlyWithEveryWord) {
  World world(functions());
  const std::vector<Function> stack = deep(50);
  const HostRegisters registers = lay(world, stack, kLowest);
  std::size_t without_effect = 0;
  for (std::uint64_t at = kLowest - 16; at < kLowest + 51 * kFrame; at += 8) {
    const HostWalk walk = remember(world, registers, 7);
    const std::uint64_t word = world.word(at);
    for (const std::uint64_t other : {word + kFunctionBytes, word + 16, word + 1, std::uint64_t{0}, ~word}) {
      world.word(at) = other;
      const bool is_same = is_same_stack(world.walk_afresh(registers), walk);
      const std::uint32_t number = world.remembered(registers);
      ASSERT_TRUE(is_same || number == 0) << "word at " << at - kLowest;
      without_effect += number;
      world.word(at) = word;
      remember(world, registers, 7);
    }
    ASSERT_EQ(world.remembered(registers), 7u);
  }
  EXPECT_GT(without_effect, 0u);
}

constexpr std::uint64_t kLowInPage = kStack + 0x100;

// 32 words at most in the first page: one of each frame, and of every third a saved rbp.
TEST(Memos, AreAtHandIfTheyAreSmall) {
  for (const std::size_t depth : {2, 3, 20, 24}) {
    World world(functions());
    const HostRegisters registers = lay(world, deep(depth), kLowInPage);
    EXPECT_EQ(world.remembered_at_hand(registers), 0u);
    remember(world, registers, 7);
    EXPECT_EQ(world.remembered_at_hand(registers), 7u) << depth;
  }
  for (const std::uint64_t lowest : {kLowInPage, kLowest}) {
    World world(functions());
    const HostRegisters registers = lay(world, deep(40), lowest);
    remember(world, registers, 7);
    EXPECT_EQ(world.remembered(registers), 7u);
    EXPECT_EQ(world.remembered_at_hand(registers), lowest == kLowest ? 7u : 0u);
  }
}

TEST(Memos, AreAtHandOnlyWithEveryWord) {
  World world(functions());
  const HostRegisters registers = lay(world, deep(20), kLowest);
  std::size_t differing = 0;
  for (std::uint64_t at = kLowest; at < kLowest + 20 * kFrame; at += 8) {
    const HostWalk walk = remember(world, registers, 7);
    const std::uint64_t word = world.word(at);
    ASSERT_EQ(world.remembered_at_hand(registers), 7u);
    for (const std::uint64_t other : {word + kFunctionBytes, std::uint64_t{0}, ~word}) {
      world.word(at) = other;
      const std::uint32_t number = world.remembered_at_hand(registers);
      ASSERT_TRUE(number == 0 || is_same_stack(world.walk_afresh(registers), walk)) << "word at " << at - kLowest;
      differing += number == 0;
    }
    world.word(at) = word;
  }
  EXPECT_GE(differing, 3 * 19u);
}

// Of those words that no walk from here reads, and of an rbp that leads nowhere, none counts.
TEST(Memos, CountWithWhateverOtherWords) {
  World world(functions());
  HostRegisters registers = lay(world, {kPlain, kKeeping, kPlain, kKeeping, kOther, kOutermost}, kLowest);
  remember(world, registers, 7);
  registers.fp = 1;
  for (std::uint64_t at = kLowest; at < kLowest + 5 * kFrame; at += 8) {
    if ((at - kLowest) % kFrame != kFrame - 8) world.word(at) = at;
  }
  EXPECT_EQ(world.remembered(registers), 7u);
}

TEST(Memos, CountOnlyWhereTheyBegan) {
  World world(functions());
  HostRegisters registers = lay(world, {kPlain, kFramed, kPlain, kOutermost}, kLowest);
  registers.fp += kFrame;
  remember(world, registers, 7);
  EXPECT_EQ(world.remembered({.pc = registers.pc + kFunctionBytes, .sp = registers.sp, .fp = registers.fp}), 0u);
  EXPECT_EQ(world.remembered({.pc = registers.pc + 1, .sp = registers.sp, .fp = registers.fp}), 0u);
  EXPECT_EQ(world.remembered({.pc = registers.pc, .sp = registers.sp + 16, .fp = registers.fp}), 0u);
  EXPECT_EQ(world.remembered({.pc = registers.pc, .sp = registers.sp, .fp = registers.fp + 16}), 0u);
  EXPECT_EQ(world.remembered(registers), 7u);
}

TEST(Memos, AreForgottenWithTheirRules) {
  World world(functions());
  const HostRegisters registers = lay(world, deep(20), kLowest);
  remember(world, registers, 7);
  world.change(functions());
  EXPECT_EQ(world.remembered(registers), 0u);
  remember(world, registers, 8);
  EXPECT_EQ(world.remembered(registers), 8u);
  world.set_generation(0);
  EXPECT_EQ(world.remembered(registers), 0u);
  remember(world, registers, 9);
  EXPECT_EQ(world.remembered(registers), 0u);
}

TEST(Memos, AreNotAnotherThreads) {
  World world(functions());
  const HostRegisters registers = lay(world, deep(20), kLowest);
  remember(world, registers, 7);
  world.forget_walks();
  EXPECT_EQ(world.remembered(registers), 0u);
  remember(world, registers, 8);
  EXPECT_EQ(world.remembered(registers), 8u);
}

// One that was not the same so often, one time after the other.
TEST(Memos, AreGivenUp) {
  World world(functions());
  const HostRegisters registers = lay(world, deep(20), kLowest);
  std::uint64_t& outermost = world.word(kLowest + 19 * kFrame - 8);
  remember(world, registers, 7);
  for (int i = 0; i < 10; ++i) {
    ++outermost;
    EXPECT_EQ(world.remembered(registers), 0u);
    --outermost;
    EXPECT_EQ(world.remembered(registers), 7u);
  }
  ++outermost;
  for (int i = 0; i < 4; ++i) EXPECT_EQ(world.remembered(registers), 0u);
  --outermost;
  EXPECT_EQ(world.remembered(registers), 0u);
}

// The words of one are written where those of another were.
TEST(Memos, AreWithoutTheWordsThatOthersHave) {
  World world(functions());
  std::vector<HostRegisters> starts;
  std::size_t remembered = 0;
  for (std::uint32_t i = 0; i < 64; ++i) {
    const HostRegisters registers = lay(world, deep(10 + i % 7), kLowest + 16 * i);
    starts.push_back(registers);
    std::vector<HostWalk> walks;
    remember(world, registers, 100 + i);
    ASSERT_EQ(world.remembered(registers), 100 + i);
    for (std::uint32_t before = 0; before <= i; ++before) {
      const std::uint32_t number = world.remembered(starts[before]);
      if (!number) continue;
      ASSERT_EQ(number, 100 + before);
      ++remembered;
    }
  }
  EXPECT_GE(remembered, 64u);
}

TEST(Memos, AreOfPlainWalksOnly) {
  hawk_rule from_sp = plain(HAWK_BASE_SP, kFrame, HAWK_FP_AT_SP, kFrame - 16);
  World world({plain(HAWK_BASE_SP, kFrame), from_sp, of_kind(HAWK_RULE_END), of_kind(HAWK_RULE_GAP),
               of_kind(HAWK_RULE_SIGNAL)});
  for (const std::vector<Function>& stack : {std::vector<Function>{0, 1, 2}, {0, 3}, {0, 0, 4, 0}, {2}}) {
    const HostRegisters registers = lay(world, stack, kLowest);
    remember(world, registers, 7);
    EXPECT_EQ(world.remembered(registers), 0u);
  }
  // Deeper than there is room for.
  World deeper(functions());
  const HostRegisters registers = lay(deeper, deep(150), kLowest);
  EXPECT_EQ(remember(deeper, registers, 7).end, HAWK_END_OUTERMOST);
  EXPECT_EQ(deeper.remembered(registers), 0u);
}

/// Random stacks of a program with few rules, most of which lead on.
class Chance {
 public:
  explicit Chance(unsigned long seed) : random_(seed) {}
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

  std::vector<hawk_rule> rules() {
    std::vector<hawk_rule> rules;
    for (std::size_t i = 0; i < kFunctions; ++i) rules.push_back(rule());
    rules.push_back(of_kind(HAWK_RULE_END));
    return rules;
  }
  std::uint64_t stack() { return kStack + 8 * below(kStackWords); }
  std::uint64_t word() {
    const std::uint64_t kind = below(20);
    if (kind == 0) return below(3);
    return kind < 8 ? stack() : in(below(kFunctions + 1)) + below(2);
  }
  HostRegisters registers() {
    return {.pc = in(below(kFunctions)), .sp = kStack + 16 * below(kStackWords / 2), .fp = stack()};
  }

 private:
  static constexpr std::size_t kFunctions = 7;
  hawk_rule rule() {
    if (below(8) == 0) return of_kind(below(2) == 0 ? HAWK_RULE_GAP : HAWK_RULE_SIGNAL);
    return plain(below(3) == 0 ? HAWK_BASE_FP : HAWK_BASE_SP, 16 * (1 + static_cast<std::int32_t>(below(40))),
                 below(2) == 0 ? HAWK_FP_AT_CFA : HAWK_FP_SAME, -8 * (2 + static_cast<std::int32_t>(below(8))));
  }
  std::mt19937_64 random_;
};

/// Where a walk begins that goes on for a while and to the end, if one is found soon.
HostRegisters beginning(const World& world, Chance& chance) {
  HostRegisters registers;
  for (int attempt = 0; attempt < 60; ++attempt) {
    registers = chance.registers();
    const HostWalk walk = world.walk_afresh(registers);
    if (walk.end == HAWK_END_OUTERMOST && walk.frames.size() > 2) break;
  }
  return registers;
}

// What a thread remembers of stacks that change one word after the other.
TEST(Memos, OfRandomWalksAreThoseOfANewThread) {
  constexpr int kGenerations = 150, kChanges = 150, kStarts = 6;
  Chance chance(1);
  World world({});
  std::vector<HostWalk> stacks(1);
  std::size_t remembered = 0, refused = 0;
  for (int generation = 0; generation < kGenerations; ++generation) {
    world.change(chance.rules());
    for (std::uint64_t at = kStack; at < kStack + 8 * kStackWords; at += 8) world.word(at) = chance.word();
    std::vector<HostRegisters> starts(kStarts);
    std::ranges::generate(starts, [&] { return beginning(world, chance); });
    for (int change = 0; change < kChanges; ++change) {
      HostRegisters registers = starts[chance.below(kStarts)];
      if (chance.below(8) == 0) registers.fp = chance.stack();
      const std::uint32_t number = world.remembered(registers);
      const HostWalk fresh = world.walk_afresh(registers);
      if (number) {
        ASSERT_TRUE(is_same_stack(fresh, stacks.at(number))) << generation << ", " << change;
        ++remembered;
      } else {
        const HostWalk walk = world.walk(registers);
        ASSERT_TRUE(is_same_stack(fresh, walk));
        const auto known =
            std::ranges::find_if(stacks, [&walk](const HostWalk& stack) { return is_same_stack(stack, walk); });
        const auto found = static_cast<std::uint32_t>(known - stacks.begin());
        if (known == stacks.end()) stacks.push_back(walk);
        world.remember(walk, registers, found);
        refused += world.remembered(registers) == 0;
      }
      // Mostly a word that the walk has read.
      if (chance.below(6) != 0) continue;
      const bool has_read = !fresh.reads.empty() && chance.below(4) != 0;
      const std::uint64_t at = has_read ? fresh.reads[chance.below(fresh.reads.size())] & ~7ULL : chance.stack();
      if (at >= kStack && at < kStack + 8 * kStackWords) world.word(at) = chance.word();
    }
    stacks.resize(1);
  }
  EXPECT_GT(remembered, static_cast<std::size_t>(kGenerations) * kChanges / 10) << refused;
}

}  // namespace
}  // namespace hawk
