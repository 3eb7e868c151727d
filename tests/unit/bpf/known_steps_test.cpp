// What a thread keeps from one walk to the next, the known steps: when they are taken, and when they must not be.
#include <gtest/gtest.h>

#include "bpf/unwind/ends.h"
#include "bpf/unwind/walk_state.h"
#include "tests/unit/bpf/walk_world.h"

namespace hawk {
namespace {

/// Distance of stack addresses that share an entry of the known steps.
constexpr std::uint64_t kSameSlot = std::uint64_t{HAWK_KNOWN_STEPS} << HAWK_CALL_ALIGNMENT_SHIFT;
/// Where host_walk.cpp has words at hand, if nothing else is between: frames of this size, one above the other.
constexpr std::uint64_t kFrame = 64;

void expect_frames(const HostWalk& walk, const std::vector<std::uint64_t>& frames) {
  EXPECT_EQ(walk.frames, frames);
  EXPECT_EQ(walk.end, HAWK_END_OUTERMOST);
  EXPECT_EQ(walk.hash, hash_of(walk));
}

/// Functions 0 to 2 have frames of one, two and three times kFrame; 3 is the outermost, 4 and 5 have theirs from rbp
/// on.
enum : Function { kSmall, kMiddle, kLarge, kOutermost, kFramed, kFramedLess, kKeeping, kStoring };
std::vector<hawk_rule> functions() {
  return {plain(HAWK_BASE_SP, kFrame),
          plain(HAWK_BASE_SP, 2 * kFrame),
          plain(HAWK_BASE_SP, 3 * kFrame),
          of_kind(HAWK_RULE_END),
          plain(HAWK_BASE_FP, 16, HAWK_FP_AT_CFA, -16),
          plain(HAWK_BASE_FP, 16),
          plain(HAWK_BASE_SP, kFrame, HAWK_FP_SAME),
          plain(HAWK_BASE_SP, kFrame, HAWK_FP_AT_CFA, -16)};
}

/// In the lowest frame, whose words are at hand as all those kFrame above are.
constexpr std::uint64_t kLowest = kStack + 8;

TEST(KnownSteps, AreTakenWhereTheyWereLearnt) {
  World world(functions());
  world.word(kLowest + kFrame - 8) = in(kMiddle);
  world.word(kLowest + 3 * kFrame - 8) = in(kOutermost);
  const HostRegisters registers{.pc = in(kSmall), .sp = kLowest, .fp = 0};
  const std::vector<std::uint64_t> frames = {in(kSmall), in(kMiddle), in(kOutermost)};
  for (const std::uint32_t known : {0, 0, 2, 2}) {
    const HostWalk walk = world.walk(registers);
    expect_frames(walk, frames);
    EXPECT_EQ(walk.known_steps, known);
  }
}

TEST(KnownSteps, AreForgottenWithTheirRules) {
  World world(functions());
  world.word(kLowest + kFrame - 8) = in(kMiddle);
  world.word(kLowest + 2 * kFrame - 8) = in(kLarge);
  world.word(kLowest + 3 * kFrame - 8) = in(kOutermost);
  world.word(kLowest + 5 * kFrame - 8) = in(kOutermost) + 1;
  const HostRegisters registers{.pc = in(kSmall), .sp = kLowest, .fp = 0};
  expect_frames(world.learn(registers), {in(kSmall), in(kMiddle), in(kOutermost)});
  // The code there is another now: the first two functions have changed their sizes.
  std::vector<hawk_rule> others = functions();
  std::swap(others[kSmall], others[kMiddle]);
  world.change(others);
  for (const std::uint32_t known : {0, 0, 2}) {
    const HostWalk walk = world.walk(registers);
    EXPECT_EQ(walk.known_steps, known);
    expect_frames(walk, {in(kSmall), in(kLarge), in(kOutermost) + 1});
  }
  // And as before, in a generation of its own.
  world.change(functions());
  expect_frames(world.walk(registers), {in(kSmall), in(kMiddle), in(kOutermost)});
}

// While mappings change no generation holds, and what was learnt before may be what is changing.
TEST(KnownSteps, AreForgottenWhileNoGenerationHolds) {
  World world(functions());
  world.word(kLowest + kFrame - 8) = in(kOutermost);
  world.word(kLowest + 2 * kFrame - 8) = in(kLarge);
  const HostRegisters registers{.pc = in(kSmall), .sp = kLowest, .fp = 0};
  expect_frames(world.learn(registers), {in(kSmall), in(kOutermost)});
  std::vector<hawk_rule> others = functions();
  others[kSmall] = plain(HAWK_BASE_SP, 2 * kFrame);
  world.change(others);
  world.set_generation(0);
  for (int i = 0; i < 3; ++i) {
    const HostWalk walk = world.walk(registers);
    EXPECT_EQ(walk.frames, (std::vector<std::uint64_t>{in(kSmall), in(kLarge)}));
    EXPECT_EQ(walk.known_steps, 0u);
  }
}

// A word of the stack may be anything. 1 is the return address of the byte at 0, as little a known step as any other.
TEST(KnownSteps, AreNoneForAReturnAddressOfOne) {
  World world(functions());
  const HostRegisters registers{.pc = in(kSmall), .sp = kLowest, .fp = 0};
  for (int generation = 0; generation < 2; ++generation) {
    // Of another generation's known step there, nothing may be left.
    world.word(kLowest + kFrame - 8) = in(kMiddle);
    world.word(kLowest + 3 * kFrame - 8) = in(kOutermost);
    expect_frames(world.learn(registers), {in(kSmall), in(kMiddle), in(kOutermost)});
    world.change(functions());
    world.word(kLowest + kFrame - 8) = 1;
    for (const HostWalk& walk : {world.learn(registers), world.walk_afresh(registers)}) {
      EXPECT_EQ(walk.frames, (std::vector<std::uint64_t>{in(kSmall), 1}));
      EXPECT_EQ(walk.end, HAWK_END_NO_CODE);
    }
  }
}

// Nor does a signal's frame lead on from an address that is one below 0.
TEST(KnownSteps, AreNoneForTheLastAddress) {
  std::vector<hawk_rule> rules = functions();
  rules.push_back(of_kind(HAWK_RULE_SIGNAL));
  World world(rules);
  world.word(kLowest + HAWK_SIGNAL_PC) = ~0ull;
  world.word(kLowest + HAWK_SIGNAL_SP) = kLowest + kFrame;
  world.word(kLowest + kFrame - 8) = in(kOutermost);
  const HostRegisters registers{.pc = in(rules.size() - 1), .sp = kLowest, .fp = 0};
  for (const HostWalk& walk : {world.learn(registers), world.walk_afresh(registers)}) {
    EXPECT_EQ(walk.frames, (std::vector<std::uint64_t>{registers.pc, ~0ull}));
    EXPECT_EQ(walk.end, HAWK_END_NO_CODE);
  }
}

TEST(KnownSteps, AreOfOneFunctionOnly) {
  World world(functions());
  world.word(kLowest + kFrame - 8) = in(kOutermost);
  world.word(kLowest + 2 * kFrame - 8) = in(kOutermost) + 1;
  world.word(kLowest + 3 * kFrame - 8) = in(kOutermost) + 2;
  for (int i = 0; i < 3; ++i) {
    for (const Function function : {kSmall, kMiddle, kLarge, kMiddle, kMiddle, kSmall, kSmall}) {
      expect_frames(world.walk({.pc = in(function), .sp = kLowest, .fp = 0}),
                    {in(function), in(kOutermost) + function});
    }
  }
}

// The CFA of such a frame is where rbp says; the frame between rsp and there may have any size.
TEST(KnownSteps, CountOnlyWithTheSameFramePointerWhereTheRuleTakesIt) {
  World world(functions());
  for (std::uint64_t size = 1; size < 8; ++size) {
    const std::uint64_t cfa = kLowest + size * kFrame;
    world.word(cfa - 8) = in(kSmall);
    world.word(cfa + kFrame - 8) = in(kOutermost) + size;
  }
  for (int i = 0; i < 3; ++i) {
    for (const std::uint64_t size : {1, 2, 2, 2, 5, 5, 5, 2, 1, 6}) {
      for (const Function function : {kFramed, kFramedLess}) {
        const HostRegisters registers{.pc = in(function), .sp = kLowest, .fp = kLowest + size * kFrame - 16};
        // Frames further out than the first follow when one word above is another frame's.
        world.word(kLowest + size * kFrame + kFrame - 8) = in(kOutermost) + size;
        expect_frames(world.walk(registers), {in(function), in(kSmall), in(kOutermost) + size});
        world.word(kLowest + size * kFrame + kFrame - 8) = in(kSmall);
      }
    }
  }
}

// To the last bit: only words at which nothing can be stored are spared.
TEST(KnownSteps, DoNotCountWithAnyOtherFramePointer) {
  World world(functions());
  const HostRegisters registers{.pc = in(kFramed), .sp = kLowest, .fp = kLowest + kFrame - 16};
  world.word(kLowest + kFrame - 8) = in(kOutermost);
  expect_frames(world.learn(registers), {in(kFramed), in(kOutermost)});
  for (int bit = 0; bit < 64; ++bit) {
    const HostRegisters others{.pc = registers.pc, .sp = kLowest, .fp = registers.fp ^ 1ull << bit};
    EXPECT_EQ(world.learn(registers).known_steps, 1u);
    const HostWalk walk = world.walk(others);
    EXPECT_NE(walk.end, HAWK_END_OUTERMOST) << bit;
    EXPECT_TRUE(is_same_stack(walk, world.walk_afresh(others))) << bit;
  }
}

// A known step holds 32 bits of how far a frame reaches.
TEST(KnownSteps, AreNoneOverFourGigabytes) {
  World world(functions());
  constexpr std::uint64_t kFar = std::uint64_t{1} << 32;
  world.word(kLowest) = in(kOutermost);
  const HostRegisters near{.pc = in(kFramedLess), .sp = kLowest, .fp = kLowest - 8};
  for (const std::uint64_t fp : {near.fp + kFar, near.fp + 2 * kFar, near.fp - kFar, near.fp + (kFar << 8)}) {
    const HostRegisters far{.pc = near.pc, .sp = near.sp, .fp = fp};
    const HostWalk expected = world.walk_afresh(far);
    EXPECT_EQ(expected.end, fp < near.fp ? HAWK_END_NO_PROGRESS : HAWK_END_UNREADABLE);
    EXPECT_TRUE(is_same_stack(world.learn(far), expected));
    expect_frames(world.learn(near), {near.pc, in(kOutermost)});
    EXPECT_TRUE(is_same_stack(world.learn(far), expected));
  }
}

TEST(KnownSteps, CountWithAnyFramePointerWhereTheRuleTakesNone) {
  World world(functions());
  world.word(kLowest + kFrame - 8) = in(kOutermost);
  HostRegisters registers{.pc = in(kSmall), .sp = kLowest, .fp = 0};
  expect_frames(world.learn(registers), {in(kSmall), in(kOutermost)});
  for (const std::uint64_t fp : {kLowest, kLowest - 8, std::uint64_t{7}, ~std::uint64_t{0}}) {
    registers.fp = fp;
    EXPECT_EQ(world.walk(registers).known_steps, 1u) << fp;
  }
}

// Two functions that differ in this alone: whether the caller's rbp is stored, or still there.
TEST(KnownSteps, BringTheCallersFramePointerOrKeepIt) {
  World world(functions());
  const std::uint64_t caller = kLowest + kFrame, stored = caller + 2 * kFrame, kept = caller + 3 * kFrame;
  world.word(caller - 8) = in(kFramed);
  world.word(caller - 16) = stored - 16;
  world.word(stored - 8) = in(kOutermost) + 1;
  world.word(kept - 8) = in(kOutermost) + 2;
  for (int i = 0; i < 4; ++i) {
    for (const Function function : {kKeeping, kStoring, kStoring, kStoring, kKeeping, kKeeping}) {
      const HostWalk walk = world.walk({.pc = in(function), .sp = kLowest, .fp = kept - 16});
      expect_frames(walk, {in(function), in(kFramed), in(kOutermost) + (function == kStoring ? 1 : 2)});
    }
  }
  for (const Function function : {kKeeping, kStoring})
    EXPECT_EQ(world.learn({.pc = in(function), .sp = kLowest, .fp = kept - 16}).known_steps, 2u);
}

// A stack longer than there are places: its ends drive each other out, and both are found.
TEST(KnownSteps, ShareAPlaceWithStepsFurtherOut) {
  World world(functions());
  const std::vector<std::uint64_t> sizes = {1, 2, 3};
  std::vector<std::uint64_t> frames;
  std::uint64_t sp = kLowest;
  for (std::uint64_t i = 0; sp < kLowest + 3 * kSameSlot; ++i) {
    // Changes from one round of the places to the next.
    const Function function = (i * 7 / 5 + (sp - kLowest) / kSameSlot) % 3;
    frames.push_back(in(function) + i % 3);
    if (i) world.word(sp - 8) = frames.back();
    sp += sizes[function] * kFrame;
  }
  world.word(sp - 8) = in(kOutermost);
  frames.push_back(in(kOutermost));
  const HostRegisters registers{.pc = frames[0], .sp = kLowest, .fp = 0};
  for (int i = 0; i < 4; ++i) expect_frames(world.walk(registers), frames);
}

// A step is stored relative to its position; so it also applies to another position with the same index.
TEST(KnownSteps, HoldAtTheOtherPlacesOfTheirIndex) {
  World world(functions());
  for (const Function function : {kSmall, kFramed}) {
    for (std::uint64_t round = 0; round < 4; ++round) {
      const std::uint64_t sp = kLowest + round * kSameSlot, cfa = sp + kFrame;
      world.word(cfa - 8) = in(kOutermost) + round;
      const HostRegisters registers{.pc = in(function), .sp = sp, .fp = cfa - 16};
      if (round == 0) world.learn(registers);
      const HostWalk walk = world.walk(registers);
      expect_frames(walk, {in(function), in(kOutermost) + round});
      EXPECT_EQ(walk.known_steps, 1u);
      const HostRegisters others{.pc = in(function), .sp = sp, .fp = kLowest + kFrame - 16};
      EXPECT_TRUE(is_same_stack(world.walk(others), world.walk_afresh(others)));
      world.learn(registers);
    }
  }
}

// However deep a walk may go: where it ends does not depend on how many steps are taken at once.
TEST(KnownSteps, EndAtTheDepthThatIsAskedFor) {
  World world(functions());
  std::vector<std::uint64_t> frames = {in(kSmall)};
  for (std::uint64_t depth = 1; depth < 40; ++depth) {
    frames.push_back(in(kSmall));
    world.word(kLowest + depth * kFrame - 8) = in(kSmall);
  }
  const HostRegisters registers{.pc = in(kSmall), .sp = kLowest, .fp = 0};
  world.learn(registers);
  for (std::uint32_t depth = 1; depth < 40; ++depth) {
    const HostWalk walk = world.walk(registers, depth);
    EXPECT_EQ(walk.frames, std::vector<std::uint64_t>(depth, in(kSmall)));
    EXPECT_EQ(walk.end, HAWK_END_DEPTH);
    EXPECT_EQ(walk.known_steps, depth - 1);
    EXPECT_TRUE(is_same_stack(walk, world.walk_afresh(registers, depth)));
  }
}

}  // namespace
}  // namespace hawk
